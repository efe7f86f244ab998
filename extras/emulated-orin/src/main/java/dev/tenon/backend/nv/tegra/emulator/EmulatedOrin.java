package dev.tenon.backend.nv.tegra.emulator;

import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatedBoard;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatorOptions;
import dev.tenon.backend.nv.tegra.emulator.kernels.NvidiaKernels;
import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import dev.tenon.backend.nv.tegra.emulator.launch.StandIn;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamFile;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamRecorder;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// An emulated Orin that can run whole models: the board, and what the kernels of `kernels/nvidia`
/// compute. Safe for any thread.
public final class EmulatedOrin implements Board {
    private final KernelLibrary library;
    private final EmulatedBoard board;
    private OutputStream stream;
    private StreamRecorder recorder;

    /// @param options what board
    public EmulatedOrin(EmulatorOptions options) {
        this.library = new KernelLibrary();
        this.board = new EmulatedBoard(options, library);
    }

    /// {@return the board itself}
    public EmulatedBoard board() {
        return board;
    }

    /// Records everything that the GPU fetches, until the board is closed.
    ///
    /// @param file the file to write
    /// @throws IOException if it cannot be written
    public void recordTo(Path file) throws IOException {
        stream = new BufferedOutputStream(Files.newOutputStream(file));
        recorder = StreamFile.writer(stream);
        board.record(recorder);
    }

    @Override
    public Syscalls calls() {
        return board;
    }

    @Override
    public void loads(byte[] bytes) {
        if (recorder != null) {
            recorder.code(bytes);
        }
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
        board.record(null);
        board.close();
        if (stream != null) {
            try {
                stream.close();
            } catch (IOException e) {
                throw new UncheckedIOException("the recorded stream is not whole", e);
            }
        }
    }
}
