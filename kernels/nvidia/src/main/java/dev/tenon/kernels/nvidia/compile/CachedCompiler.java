package dev.tenon.kernels.nvidia.compile;

import dev.tenon.kernels.nvidia.source.CudaSource;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.List;
import java.util.Map;

/// Compiles kernel modules, unless that has been done before. Safe for any thread.
///
/// @param nvrtc the compiler
/// @param cache what it has made
public record CachedCompiler(Nvrtc nvrtc, CodeCache cache) {
    /// {@return the machine code of a module}
    ///
    /// @param module the module
    /// @param headers headers of third parties, by name
    /// @param architecture what for, such as `sm_87`
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-003`) with the compiler's log
    public byte[] compile(KernelModule module, Map<String, String> headers, String architecture) {
        CudaSource source = KernelCatalogue.source(module, headers);
        List<String> options = KernelCatalogue.options(module, architecture);
        String key = CodeCache.key(source, options, "nvrtc " + nvrtc.version());
        return cache.find(key).orElseGet(() -> {
            byte[] code = nvrtc.compile(source, options);
            cache.store(key, code);
            return code;
        });
    }
}
