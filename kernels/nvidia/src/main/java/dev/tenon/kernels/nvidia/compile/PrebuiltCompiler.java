package dev.tenon.kernels.nvidia.compile;

import dev.tenon.kernels.nvidia.source.CudaSource;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Compiles the PTX in the bundle, unless that has been done before: less than NVRTC can, without a toolkit. Safe for
/// any thread.
///
/// @param compiler the compiler
/// @param cache what it has made
public record PrebuiltCompiler(PtxCompiler compiler, CodeCache cache) {
    /// {@return whether the bundle has PTX of a module}
    ///
    /// @param module the module
    public static boolean has(KernelModule module) {
        return KernelCatalogue.prebuilt(module).isPresent();
    }

    /// {@return the machine code of a module; empty if the bundle has no PTX of it. What launches it must be planned
    ///     for [dev.tenon.kernels.nvidia.DeviceTraits#asOldest]}
    ///
    /// @param module the module
    /// @param architecture what for, such as `sm_87`
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-003`) with the compiler's log
    public Optional<byte[]> compile(KernelModule module, String architecture) {
        return KernelCatalogue.prebuilt(module).map(bytes -> {
            String ptx = new String(bytes, StandardCharsets.US_ASCII);
            String key =
                    CodeCache.key(new CudaSource(module.name(), ptx, Map.of()), List.of(architecture), compiler.name());
            return cache.find(key).orElseGet(() -> {
                byte[] code = compiler.compile(module.name(), ptx, architecture);
                cache.store(key, code);
                return code;
            });
        });
    }
}
