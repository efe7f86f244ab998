package dev.tenon.backend.cpu.vector.kernel;

import dev.tenon.api.kernel.cpu.ForceInline;
import java.lang.foreign.MemorySegment;

/// Parts of some weight rows, and what they are multiplied with. A thread has one with its scratch memory and fills it
/// again and again, so that steps allocate nothing. Not safe for several threads at once.
public final class RowSpans {
    /// The matrix; read through [Memory#base].
    public MemorySegment weights;
    /// Where the first row's part starts, as [Memory#at] returns it.
    public long at;
    /// Bytes to the next row's part.
    public long apart;
    /// Number of rows.
    public int rows;
    /// Elements of each part, whole blocks.
    public int n;
    /// Activations, or the memory for decoded values.
    public float[] x;
    /// Index of the first of those.
    public int xOffset;

    /// {@return where a row's part starts}
    ///
    /// @param row which row
    @ForceInline
    public long at(int row) {
        return at + row * apart;
    }
}
