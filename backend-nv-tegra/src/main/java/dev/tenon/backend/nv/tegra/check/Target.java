package dev.tenon.backend.nv.tegra.check;

import dev.tenon.backend.nv.tegra.TegraGpu;
import dev.tenon.backend.nv.tegra.TegraOptions;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.Optional;

/// What is checked: a GPU behind one of the drivers, and where machine code for it comes from.
public interface Target {
    /// {@return what a working one shows}
    String expected();

    /// {@return what it is}
    GpuTraits describe();

    /// {@return the GPU, opened}
    GpuInterface open();

    /// {@return machine code of a module, if there is any}
    ///
    /// @param module one of the bundle of kernels
    Optional<byte[]> cubin(KernelModule module);

    /// {@return an Orin}
    ///
    /// @param board the board; borrowed
    /// @param options how it is opened
    static Target of(Board board, TegraOptions options) {
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
            public GpuInterface open() {
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
}
