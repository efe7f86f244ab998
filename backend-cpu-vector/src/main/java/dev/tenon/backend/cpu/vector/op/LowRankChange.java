package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.backend.cpu.vector.kernel.lowrank.LowRankMath;
import dev.tenon.backend.cpu.vector.kernel.lowrank.LowRankPair;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// What a low-rank adapter changes of a projection: rows that use it are multiplied with its first matrix where they
/// are packed, and their product with its second one is added to each piece of the projection that a thread has
/// computed. The columns of the first matrix are taken in pieces of a fixed length, whose sums are added, so that one
/// token, whose pieces threads share, gets the same bits as many.
///
/// Part of a plan; used by the threads of its steps.
public final class LowRankChange {
    private final int adapter;
    private final float factor;
    private final LowRankPair pair;
    private final LowRankMath math;
    private final Activations down;
    private final float[] sums;
    private float[][] own = {};

    /// Creates the change; [#useOwn] completes it.
    ///
    /// @param adapter which adapter of the graph
    /// @param factor factor beside the scale of a sequence
    /// @param pair the matrices
    /// @param down `[rows, ranks]`, memory for the product with the first matrix
    /// @param math multiplies
    public LowRankChange(int adapter, float factor, LowRankPair pair, Activations down, LowRankMath math) {
        this.adapter = adapter;
        this.factor = factor;
        this.pair = pair;
        this.down = down;
        this.math = math;
        this.sums = new float[pair.pieces() * pair.ranks()];
    }

    /// Gives each thread memory for the product of a single row.
    ///
    /// @param threads how many
    public void useOwn(int threads) {
        own = new float[threads][pair.ranks()];
    }

    /// {@return memory for the product with the first matrix}
    public Activations down() {
        return down;
    }

    /// {@return bytes of both matrices}
    public long bytes() {
        return ((long) pair.a().length + pair.b().length) * Float.BYTES;
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
        math.down(pair, x.data, x.width, rows, first, last, down.data);
        for (int i = first; i < last; i++) {
            scale(down.data, rows[i] * pair.ranks(), adapters.scale(down.selected, adapter, i));
        }
    }

    /// {@return pieces of the product with the first matrix}
    int pieces() {
        return pair.pieces();
    }

    /// Multiplies a piece of the step's only row.
    ///
    /// @param x `[cols]`
    /// @param piece which
    void piece(float[] x, int piece) {
        math.piece(pair, x, piece, sums);
    }

    /// Adds up the pieces of the step's only row, for a thread of its own.
    ///
    /// @param c the step
    /// @param thread index of the thread
    void sum(StepContext c, int thread) {
        float[] sum = own[thread];
        int ranks = pair.ranks();
        System.arraycopy(sums, 0, sum, 0, ranks);
        for (int at = ranks; at < sums.length; at += ranks) {
            for (int k = 0; k < ranks; k++) {
                sum[k] += sums[at + k];
            }
        }
        scale(sum, 0, c.adapters().scale(down.selected, adapter, 0));
    }

    private void scale(float[] values, int at, float scale) {
        for (int k = at; k < at + pair.ranks(); k++) {
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
            math.up(pair, call, downs, rows, count);
        }
    }
}
