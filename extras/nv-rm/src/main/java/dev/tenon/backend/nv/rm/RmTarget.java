package dev.tenon.backend.nv.rm;

import dev.tenon.backend.nv.tegra.check.Target;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import dev.tenon.kernels.nvidia.compile.CachedCompiler;
import dev.tenon.kernels.nvidia.compile.CodeCache;
import dev.tenon.kernels.nvidia.compile.Nvrtc;
import dev.tenon.kernels.nvidia.compile.NvrtcFinder;
import dev.tenon.kernels.nvidia.plan.PlanSettings;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.Map;
import java.util.Optional;

/// A Hopper GPU to be checked; NVRTC compiles for it.
///
/// @param calls the system
/// @param settings the device's settings by name
record RmTarget(Syscalls calls, Map<String, String> settings) implements Target {
    @Override
    public String expected() {
        return "a Hopper GPU, driver branch 580";
    }

    @Override
    public GpuTraits describe() {
        try (RmGpu gpu = RmGpu.open(calls)) {
            return gpu.traits();
        }
    }

    @Override
    public GpuInterface open() {
        return RmGpu.open(calls);
    }

    @Override
    public Optional<byte[]> cubin(KernelModule module) {
        Nvrtc nvrtc = Nvrtc.open(NvrtcFinder.ofThisMachine(), settings.getOrDefault(PlanSettings.NVRTC.name(), ""));
        CodeCache cache = new CodeCache(CodeCache.defaultFolder(System.getenv()));
        return Optional.of(new CachedCompiler(nvrtc, cache).compile(module, Map.of(), "sm_90a"));
    }
}
