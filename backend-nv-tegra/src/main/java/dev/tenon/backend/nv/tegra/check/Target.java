package dev.tenon.backend.nv.tegra.check;

import dev.tenon.backend.nv.tegra.TegraGpu;
import dev.tenon.backend.nv.tegra.TegraOptions;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.rm.RmGpu;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import dev.tenon.kernels.nvidia.compile.CachedCompiler;
import dev.tenon.kernels.nvidia.compile.CodeCache;
import dev.tenon.kernels.nvidia.compile.Nvrtc;
import dev.tenon.kernels.nvidia.compile.NvrtcFinder;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.Map;
import java.util.Optional;

/// What is checked: a GPU behind one of the drivers, and where machine code for it comes from.
interface Target {
    /// {@return what a working one shows}
    String expected();

    /// {@return what it is}
    GpuTraits describe();

    /// {@return the GPU, opened}
    GpuInterface open(TegraOptions options);

    /// {@return machine code of a module, if there is any}
    Optional<byte[]> cubin(KernelModule module);

    /// {@return an Orin}
    static Target of(Board board) {
        return new Target() {
            @Override
            public String expected() {
                return "ga10b with coherent memory and rings for user space";
            }

            @Override
            public GpuTraits describe() {
                return TegraGpu.describe(board.calls());
            }

            @Override
            public GpuInterface open(TegraOptions options) {
                return TegraGpu.open(board.calls(), options);
            }

            @Override
            public Optional<byte[]> cubin(KernelModule module) {
                Optional<byte[]> cubin = KernelCatalogue.cubin(module);
                cubin.ifPresent(board::loads);
                return cubin;
            }
        };
    }

    /// {@return a Hopper GPU behind the resource manager; NVRTC compiles for it}
    static Target of(Syscalls calls, Map<String, String> settings) {
        return new Target() {
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
            public GpuInterface open(TegraOptions options) {
                return RmGpu.open(calls);
            }

            @Override
            public Optional<byte[]> cubin(KernelModule module) {
                Nvrtc nvrtc = Nvrtc.open(NvrtcFinder.ofThisMachine(), settings.getOrDefault("cuda.nvrtc", ""));
                CodeCache cache = new CodeCache(CodeCache.defaultFolder(System.getenv()));
                return Optional.of(new CachedCompiler(nvrtc, cache).compile(module, Map.of(), "sm_90a"));
            }
        };
    }
}
