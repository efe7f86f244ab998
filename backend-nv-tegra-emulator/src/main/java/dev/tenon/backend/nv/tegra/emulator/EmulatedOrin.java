package dev.tenon.backend.nv.tegra.emulator;

import dev.tenon.backend.nv.tegra.emulator.kernels.NvidiaKernels;
import dev.tenon.backend.nv.tegra.gpu.Cubin;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import java.util.List;
import java.util.Optional;

/// An emulated Orin that can run whole models: the board, and what the kernels of `kernels-nvidia`
/// compute. Safe for any thread.
public final class EmulatedOrin implements Board {
    private final KernelLibrary library;
    private final EmulatedBoard board;

    /// @param options what board
    public EmulatedOrin(EmulatorOptions options) {
        this.library = new KernelLibrary();
        this.board = new EmulatedBoard(options, library);
    }

    /// {@return the board itself}
    public EmulatedBoard board() {
        return board;
    }

    @Override
    public Syscalls calls() {
        return board;
    }

    @Override
    public void loads(byte[] bytes) {
        Cubin cubin = new Cubin(bytes, "loaded by the backend");
        cubin.kernels()
                .keySet()
                .forEach(name ->
                        library.add(cubin, name, NvidiaKernels.reference(name).orElse(launch -> {
                            throw GpuFault.exception(
                                    "the emulated GPU does not know what kernel " + name + " computes");
                        })));
    }

    @Override
    public Optional<byte[]> standIn(String kernel, List<Integer> parameterBytes) {
        return Optional.of(StandIn.cubin(kernel, parameterBytes));
    }

    @Override
    public void close() {
        board.close();
    }
}
