package dev.tenon.platform.tools.gguf;

/// Hears how far the writing of a file is.
@FunctionalInterface
public interface ProgressListener {
    /// A listener that does nothing.
    ProgressListener NONE = (doneBytes, totalBytes) -> {};

    /// Called after each piece, by whichever thread wrote it, never by two at once; it should return at
    /// once.
    ///
    /// @param doneBytes tensor data written so far; grows from call to call
    /// @param totalBytes tensor data in all
    void progress(long doneBytes, long totalBytes);
}
