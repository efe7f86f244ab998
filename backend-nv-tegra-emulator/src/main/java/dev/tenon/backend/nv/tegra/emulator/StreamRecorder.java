package dev.tenon.backend.nv.tegra.emulator;

/// Receives what a GPU fetches, in order.
public interface StreamRecorder {
    /// Command words of one ring entry.
    ///
    /// @param token channel
    /// @param va where they are
    /// @param words the words; do not change them
    void words(int token, long va, int[] words);

    /// A launch.
    ///
    /// @param token channel
    /// @param kernel name of the kernel
    /// @param qmd its launch descriptor
    /// @param bank0 constant bank 0: sizes, windows, parameters
    void launch(int token, String kernel, byte[] qmd, byte[] bank0);
}
