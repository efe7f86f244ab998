package dev.tenon.kernels.nvidia.step;

import dev.tenon.api.device.StepInput;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Where what comes with tokens lies in the step buffer, in bytes, behind the rest of the input.
///
/// @param width elements of a row; 0 if no token has one
/// @param axes axes of places; 0 if all tokens stand where those of a text do
/// @param spans whether some tokens have a span
/// @param rows rows of the step
/// @param start offset of the first array, a multiple of 16
public record GivenLayout(int width, int axes, boolean spans, int rows, long start) {
    /// {@return where it lies in steps of a shape}
    ///
    /// @param read what the graph reads
    /// @param shape sizes
    /// @param start offset of the first array, a multiple of 16
    static GivenLayout of(GivenInput read, StepShape shape, long start) {
        return new GivenLayout(
                shape.has(GivenInput.ROWS) ? read.width() : 0,
                shape.has(GivenInput.PLACES) ? read.axes() : 0,
                shape.has(GivenInput.SPANS),
                shape.rows(),
                start);
    }

    /// {@return offset of `has[rows]`, 1 where a token has a row of its own}
    public long has() {
        return start;
    }

    /// {@return offset of float32 `given[rows][width]`; zeros where a token has none}
    public long given() {
        return start + (width > 0 ? ints(1) : 0);
    }

    /// {@return offset of `places[axes][rows]`}
    public long places() {
        return given() + aligned(4L * width * rows);
    }

    /// {@return offset of `firsts[rows]`, the position of the first token of each row's span}
    public long firsts() {
        return places() + ints(axes);
    }

    /// {@return offset of `lasts[rows]`, that of the last one}
    public long lasts() {
        return firsts() + (spans ? ints(1) : 0);
    }

    /// {@return offset behind it all}
    public long end() {
        return lasts() + (spans ? ints(1) : 0);
    }

    private long ints(int arrays) {
        return aligned(4L * rows) * arrays;
    }

    private static long aligned(long bytes) {
        return (bytes + 15) / 16 * 16;
    }

    /// Writes what comes with a step's tokens.
    ///
    /// @param input the step
    /// @param target the step buffer as the host sees it
    /// @throws IllegalArgumentException if a row is shorter than the graph reads
    void write(StepInput input, MemorySegment target) {
        for (int t = 0; t < rows; t++) {
            boolean real = t < input.tokenCount();
            if (width > 0) {
                writeRow(real ? input.row(t) : null, t, target);
            }
            for (int axis = 0; axis < axes; axis++) {
                put(target, places() + axis * ints(1), t, real ? input.coordinate(t, axis) : 0);
            }
            if (spans) {
                put(target, firsts(), t, real ? input.spanStart(t) : 0);
                put(target, lasts(), t, real ? input.spanEnd(t) : 0);
            }
        }
    }

    private void writeRow(float[] row, int t, MemorySegment target) {
        long bytes = 4L * width;
        put(target, has(), t, row == null ? 0 : 1);
        if (row == null) {
            target.asSlice(given() + t * bytes, bytes).fill((byte) 0);
            return;
        }
        if (row.length < width) {
            throw new IllegalArgumentException("a row of " + row.length + " numbers came with the token at index " + t
                    + " of a step; the graph reads " + width);
        }
        MemorySegment.copy(row, 0, target, ValueLayout.JAVA_FLOAT, given() + t * bytes, width);
    }

    private static void put(MemorySegment target, long offset, int index, int value) {
        target.set(ValueLayout.JAVA_INT, offset + 4L * index, value);
    }
}
