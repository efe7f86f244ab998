package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.kernel.linear.LinearKernel;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PackedRows;
import java.lang.foreign.MemorySegment;

/// A weight matrix with the kernel that reads it in place.
///
/// @param name tensor name
/// @param kernel the kernel; null if the matrix has a packed one
/// @param packed packed activations and their kernel, or null
/// @param data the matrix; borrowed
/// @param rowBytes bytes of a row
/// @param rows number of rows
/// @param cols elements in a row
/// @param bias `[rows]`, or empty for none; not copied
public record BoundLinear(
        String name,
        LinearKernel kernel,
        PackedRows packed,
        MemorySegment data,
        long rowBytes,
        int rows,
        int cols,
        float[] bias) {
    /// Rows that are taken at once near the end of a matrix whose kernel multiplies them one by one.
    private static final int LOOSE_ROWS = 32;

    /// Computes some rows for some tokens.
    ///
    /// @param x `[tokens, cols]`
    /// @param tokens number of tokens
    /// @param from first row
    /// @param to row after the last
    /// @param out `[tokens, width]`; the rows from `from` on are written
    /// @param c the threads' memory
    /// @param thread index of the calling thread
    void run(float[] x, int tokens, int from, int to, Activations out, StepContext c, int thread) {
        Scratch scratch = c.scratch(thread);
        if (packed != null) {
            packed.kernel.run(
                    data,
                    rowBytes,
                    from,
                    to - from,
                    cols,
                    packed.memory(tokens, thread),
                    tokens,
                    out.floats,
                    from,
                    out.width,
                    scratch.memory());
        } else {
            kernel.run(data, rowBytes, from, to - from, x, cols, tokens, out.data, out.width, scratch);
        }
        if (bias.length > 0) {
            for (int t = 0; t < tokens; t++) {
                for (int r = from; r < to; r++) {
                    out.data[t * out.width + r] += bias[r];
                }
            }
        }
    }

    /// Computes some rows for some tokens with a packed kernel: `out[t * (to - from) + r - from]`.
    ///
    /// @param tokens number of tokens
    /// @param from first row
    /// @param to row after the last
    /// @param out `[tokens, to - from]`
    /// @param scratch the thread's memory
    void runTile(int tokens, int from, int to, HostFloats out, Scratch scratch) {
        int rows = to - from;
        packed.kernel.run(data, rowBytes, from, rows, cols, packed.memory(), tokens, out, 0, rows, scratch.memory());
        if (bias.length > 0) {
            for (int t = 0; t < tokens; t++) {
                for (int r = 0; r < rows; r++) {
                    out.array()[t * rows + r] += bias[from + r];
                }
            }
        }
    }

    /// {@return rows that the kernel multiplies together with many tokens, or a multiple of them}
    public int panelRows() {
        return packed != null ? Math.clamp(packed.kernel.panelRows(), 1, StepContext.PANEL_ROWS) : LOOSE_ROWS;
    }

    /// {@return what reports call the kernel}
    public String kernelName() {
        return packed != null ? packed.kernel.name() : kernel.name();
    }

    /// {@return how fast the kernel is}
    public Support.Level level() {
        return packed != null ? Support.Level.FAST : kernel.level();
    }

    /// {@return weight bytes of a matrix-vector product}
    public long bytes() {
        return rowBytes * rows + (long) bias.length * Float.BYTES;
    }
}
