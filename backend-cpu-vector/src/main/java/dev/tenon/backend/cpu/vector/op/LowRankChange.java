package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.backend.cpu.vector.kernel.lowrank.LowRankMath;
import dev.tenon.backend.cpu.vector.memory.Activations;
import java.util.Arrays;

/// What a low-rank adapter changes of a projection: rows that use it are multiplied with its first matrix where they
/// are packed, and their product with its second one is added to each piece of the projection that a thread has
/// computed. The columns of the first matrix are taken in pieces of a fixed length, whose sums are added, so that one
/// token, whose pieces threads share, gets the same bits as many.
///
/// Part of a plan; used by the threads of its steps.
public final class LowRankChange {
    private static final int PIECE = 256;

    private final int adapter;
    private final float factor;
    private final int rank;
    private final int ranks;
    private final float[] a;
    private final float[] b;
    private final LowRankMath math;
    private final Activations down;
    private final int cols;
    private final int[] pieces;
    private final float[] sums;
    private float[][] own = {};

    /// Creates the change; [#useOwn] completes it.
    ///
    /// @param adapter which adapter of the graph
    /// @param factor factor beside the scale of a sequence
    /// @param rank rank
    /// @param a `[cols, ranks]`, the first matrix transposed and padded
    /// @param b the second matrix, as [LowRankMath#index] says
    /// @param down `[rows, ranks]`, memory for the product with the first matrix
    /// @param math multiplies
    public LowRankChange(
            int adapter, float factor, int rank, float[] a, float[] b, Activations down, LowRankMath math) {
        this.adapter = adapter;
        this.factor = factor;
        this.rank = rank;
        this.ranks = down.width;
        this.a = a;
        this.b = b;
        this.down = down;
        this.math = math;
        this.cols = a.length / ranks;
        this.pieces = new int[Math.ceilDiv(cols, PIECE)];
        Arrays.setAll(pieces, i -> i);
        this.sums = new float[pieces.length * ranks];
    }

    /// Gives each thread memory for the product of a single row.
    ///
    /// @param threads how many
    public void useOwn(int threads) {
        own = new float[threads][ranks];
    }

    /// {@return memory for the product with the first matrix}
    public Activations down() {
        return down;
    }

    /// {@return bytes of both matrices}
    public long bytes() {
        return ((long) a.length + b.length) * Float.BYTES;
    }

    boolean used(StepContext c) {
        return c.adapters().count(down.selected, adapter) > 0;
    }

    /// Multiplies those rows that use the adapter with the first matrix.
    ///
    /// @param c the step
    /// @param x `[rows, cols]`
    /// @param from first row
    /// @param to row after the last
    void down(StepContext c, Activations x, int from, int to) {
        AdapterRows adapters = c.adapters();
        int first = adapters.indexOf(down.selected, adapter, from);
        int last = adapters.indexOf(down.selected, adapter, to);
        if (first == last) {
            return;
        }
        int[] rows = adapters.numbers(down.selected, adapter);
        for (int at = 0; at < cols; at += PIECE) {
            int end = Math.min(at + PIECE, cols);
            math.down(a, at, end, ranks, x.data, x.width, rows, first, last, down.data, at > 0);
        }
        for (int i = first; i < last; i++) {
            scale(down.data, rows[i] * ranks, adapters.scale(down.selected, adapter, i));
        }
    }

    /// {@return pieces of the product with the first matrix}
    int pieces() {
        return pieces.length;
    }

    /// Multiplies a piece of the step's only row.
    ///
    /// @param x `[cols]`
    /// @param piece which
    void piece(float[] x, int piece) {
        int from = piece * PIECE;
        math.down(a, from, Math.min(from + PIECE, cols), ranks, x, 0, pieces, piece, piece + 1, sums, false);
    }

    /// Adds up the pieces of the step's only row, for a thread of its own.
    ///
    /// @param c the step
    /// @param thread index of the thread
    void sum(StepContext c, int thread) {
        float[] sum = own[thread];
        System.arraycopy(sums, 0, sum, 0, ranks);
        for (int at = ranks; at < sums.length; at += ranks) {
            for (int k = 0; k < ranks; k++) {
                sum[k] += sums[at + k];
            }
        }
        scale(sum, 0, c.adapters().scale(down.selected, adapter, 0));
    }

    private void scale(float[] values, int at, float scale) {
        for (int k = at; k < at + ranks; k++) {
            values[k] *= scale * factor;
        }
    }

    /// Adds the product with some rows of the second matrix.
    ///
    /// @param c the step
    /// @param call which rows of the matrix, and what is added to
    /// @param thread index of the calling thread
    void up(StepContext c, LinearCall call, int thread) {
        int count = c.adapters().count(down.selected, adapter);
        if (count > 0) {
            float[] downs = call.tokens == 1 ? own[thread] : down.data;
            int[] rows = c.adapters().numbers(down.selected, adapter);
            math.up(
                    b,
                    rank,
                    call.firstRow,
                    call.rows,
                    downs,
                    ranks,
                    rows,
                    count,
                    call.out.array(),
                    call.outOffset,
                    call.outStride);
        }
    }
}
