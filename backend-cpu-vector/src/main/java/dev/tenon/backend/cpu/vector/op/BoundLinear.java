package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.backend.cpu.vector.kernel.linear.FloatLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PackedActivations;
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
/// @param changes what adapters change of it; empty for none
public record BoundLinear(
        String name,
        FloatLinear kernel,
        PackedActivations packed,
        MemorySegment data,
        long rowBytes,
        int rows,
        int cols,
        float[] bias,
        LowRankChange[] changes) {
    /// What no adapter changes.
    public static final LowRankChange[] UNCHANGED = {};
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
    public void run(float[] x, int tokens, int from, int to, Activations out, StepContext c, int thread) {
        c.scratch(thread)
                .call()
                .rows(from, to - from)
                .times(packed(tokens, thread), tokens)
                .to(out.floats, from, out.width);
        run(x, c, thread);
    }

    /// Computes some rows for the step's only token: `out[at + r - from]`.
    ///
    /// @param x `[cols]`
    /// @param from first row
    /// @param to row after the last
    /// @param out receives the sums
    /// @param at index of the first sum
    /// @param c the threads' memory
    /// @param thread index of the calling thread
    public void runOwn(float[] x, int from, int to, HostFloats out, int at, StepContext c, int thread) {
        c.scratch(thread)
                .call()
                .rows(from, to - from)
                .times(packed(1, thread), 1)
                .to(out, at, to - from);
        run(x, c, thread);
    }

    /// Computes some rows for some tokens: `out[t * (to - from) + r - from]`.
    ///
    /// @param x `[tokens, cols]`
    /// @param tokens number of tokens, more than one
    /// @param from first row
    /// @param to row after the last
    /// @param out `[tokens, to - from]`
    /// @param c the threads' memory
    /// @param thread index of the calling thread
    public void runTile(float[] x, int tokens, int from, int to, HostFloats out, StepContext c, int thread) {
        c.scratch(thread)
                .call()
                .rows(from, to - from)
                .times(packed == null ? null : packed.memory(), tokens)
                .to(out, 0, to - from);
        run(x, c, thread);
    }

    private void run(float[] x, StepContext c, int thread) {
        Scratch scratch = c.scratch(thread);
        multiply(x, scratch);
        for (LowRankChange change : changes) {
            change.up(c, scratch.call(), thread);
        }
    }

    private MemorySegment packed(int tokens, int thread) {
        return packed == null ? null : packed.memory(tokens, thread);
    }

    /// Computes what the thread's call says, of this matrix, with no adapter's change.
    ///
    /// @param x `[tokens, cols]`; not read with a packed kernel
    /// @param scratch the thread's memory, with a call that lacks only the matrix
    public void multiply(float[] x, Scratch scratch) {
        LinearCall call = scratch.call().of(data, rowBytes, cols);
        if (packed != null) {
            packed.kernel.run(call);
        } else {
            kernel.run(call, x, scratch);
        }
        if (bias.length > 0) {
            float[] out = call.out.array();
            for (int t = 0; t < call.tokens; t++) {
                int at = call.outOffset + t * call.outStride;
                addBias(out, at, call.firstRow, call.rows);
            }
        }
    }

    private void addBias(float[] out, int at, int first, int rows) {
        for (int r = 0; r < rows; r++) {
            out[at + r] += bias[first + r];
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

    /// {@return weight bytes of a matrix-vector product, all adapters among them}
    public long bytes() {
        long bytes = rowBytes * rows + (long) bias.length * Float.BYTES;
        for (LowRankChange change : changes) {
            bytes += change.bytes();
        }
        return bytes;
    }
}
