package dev.tenon.backend.nv.tegra.sys;

import java.util.List;
import java.util.Optional;

/// A board, as far as the backend has to tell boards apart: its system calls, and what an emulated
/// one must be told because it cannot execute machine code. Safe for any thread; whoever opened it
/// closes it, after everything that was opened through its calls.
public interface Board extends AutoCloseable {
    /// {@return the drivers}
    Syscalls calls();

    /// Says that a cubin is about to be loaded, so that an emulated GPU can recognise its kernels by
    /// their machine code. A real one need not be told.
    ///
    /// @param cubin the file's bytes; do not change them
    default void loads(byte[] cubin) {}

    /// {@return a cubin with one kernel, for a kernel that there is no machine code of; only an
    ///     emulated board has such stand-ins}
    ///
    /// @param kernel name of the kernel
    /// @param parameterBytes sizes of its parameters: 4 or 8 each
    default Optional<byte[]> standIn(String kernel, List<Integer> parameterBytes) {
        return Optional.empty();
    }

    @Override
    void close();

    /// {@return the board that this machine is, if it is one; closing it does nothing}
    ///
    /// @param calls the system
    static Board of(Syscalls calls) {
        return new Board() {
            @Override
            public Syscalls calls() {
                return calls;
            }

            @Override
            public void close() {
                // The system stays.
            }
        };
    }
}
