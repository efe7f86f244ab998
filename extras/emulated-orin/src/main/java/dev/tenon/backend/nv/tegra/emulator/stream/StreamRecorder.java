package dev.tenon.backend.nv.tegra.emulator.stream;

/// Receives what a GPU fetches and does, in order: for each ring entry what the processor has
/// changed since the one before, the words, the launches, what the GPU has changed, the end. What is
/// not overridden is left out.
public interface StreamRecorder {
    /// Command words of one ring entry.
    ///
    /// @param token channel
    /// @param va where they are
    /// @param words the words; do not change them
    default void words(int token, long va, int[] words) {}

    /// A launch.
    ///
    /// @param token channel
    /// @param kernel name of the kernel
    /// @param qmd its launch descriptor
    /// @param bank0 constant bank 0: sizes, windows, parameters
    default void launch(int token, String kernel, byte[] qmd, byte[] bank0) {}

    /// A cubin that kernels will be recognised by.
    ///
    /// @param cubin the file's bytes; do not change them
    default void code(byte[] cubin) {}

    /// A buffer is in the address space.
    ///
    /// @param va where
    /// @param bytes its size
    default void mapped(long va, long bytes) {}

    /// A buffer is no longer there.
    ///
    /// @param va where it was
    default void unmapped(long va) {}

    /// The processor has changed a page.
    ///
    /// @param va where
    /// @param page what is there now; do not change it
    default void written(long va, byte[] page) {}

    /// The GPU has changed a page.
    ///
    /// @param token channel
    /// @param va where
    /// @param crc CRC-32 of what is there now
    default void changed(int token, long va, int crc) {}

    /// A ring entry is through.
    ///
    /// @param token channel
    default void done(int token) {}
}
