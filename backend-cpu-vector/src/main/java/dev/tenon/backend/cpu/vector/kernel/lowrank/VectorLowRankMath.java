package dev.tenon.backend.cpu.vector.kernel.lowrank;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.LinearCall;
import jdk.incubator.vector.FloatVector;

/// The products of adapters with the Vector API: ranks are the lanes of the first one, with eight rows at once, and
/// elements those of the second one, with two rows of four vectors at once.
@CompileThresholdScaling(0.03)
public final class VectorLowRankMath implements LowRankMath {
    private static final int EIGHT = 8;
    private static final int FOUR = 4 * LANES;

    @Override
    public int lanes() {
        return LANES;
    }

    @Override
    public void down(LowRankPair pair, float[] x, int width, int[] rows, int first, int last, float[] sums) {
        int ranks = pair.ranks();
        for (int from = 0; from < pair.cols(); from += PIECE) {
            for (int k = 0; k < ranks; k += LANES) {
                int i = first;
                for (; i + EIGHT <= last; i += EIGHT) {
                    downEight(pair, from * ranks + k, x, width, rows, i, sums);
                }
                for (; i < last; i++) {
                    downOne(pair, from * ranks + k, x, rows[i] * width, sums, rows[i] * ranks + k, from > 0);
                }
            }
        }
    }

    @Override
    public void piece(LowRankPair pair, float[] x, int piece, float[] sums) {
        int ranks = pair.ranks();
        for (int k = 0; k < ranks; k += LANES) {
            downOne(pair, piece * PIECE * ranks + k, x, 0, sums, piece * ranks + k, false);
        }
    }

    /// A piece of eight rows.
    ///
    /// @param first index in the first matrix of the piece's first element for these ranks
    private static void downEight(LowRankPair pair, int first, float[] x, int width, int[] rows, int i, float[] sums) {
        float[] a = pair.a();
        int ranks = pair.ranks();
        int from = first / ranks;
        int k = first % ranks;
        int to = Math.min(from + PIECE, pair.cols());
        boolean more = from > 0;
        FloatVector s0 = FloatVector.zero(F);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        FloatVector s4 = s0;
        FloatVector s5 = s0;
        FloatVector s6 = s0;
        FloatVector s7 = s0;
        int x0 = rows[i] * width;
        int x1 = rows[i + 1] * width;
        int x2 = rows[i + 2] * width;
        int x3 = rows[i + 3] * width;
        int x4 = rows[i + 4] * width;
        int x5 = rows[i + 5] * width;
        int x6 = rows[i + 6] * width;
        int x7 = rows[i + 7] * width;
        int at = first;
        for (int c = from; c < to; c++) {
            FloatVector v = FloatVector.fromArray(F, a, at);
            s0 = v.fma(FloatVector.broadcast(F, x[x0 + c]), s0);
            s1 = v.fma(FloatVector.broadcast(F, x[x1 + c]), s1);
            s2 = v.fma(FloatVector.broadcast(F, x[x2 + c]), s2);
            s3 = v.fma(FloatVector.broadcast(F, x[x3 + c]), s3);
            s4 = v.fma(FloatVector.broadcast(F, x[x4 + c]), s4);
            s5 = v.fma(FloatVector.broadcast(F, x[x5 + c]), s5);
            s6 = v.fma(FloatVector.broadcast(F, x[x6 + c]), s6);
            s7 = v.fma(FloatVector.broadcast(F, x[x7 + c]), s7);
            at += ranks;
        }
        put(s0, sums, rows[i] * ranks + k, more);
        put(s1, sums, rows[i + 1] * ranks + k, more);
        put(s2, sums, rows[i + 2] * ranks + k, more);
        put(s3, sums, rows[i + 3] * ranks + k, more);
        put(s4, sums, rows[i + 4] * ranks + k, more);
        put(s5, sums, rows[i + 5] * ranks + k, more);
        put(s6, sums, rows[i + 6] * ranks + k, more);
        put(s7, sums, rows[i + 7] * ranks + k, more);
    }

    private static void downOne(LowRankPair pair, int first, float[] x, int row, float[] sums, int sum, boolean more) {
        float[] a = pair.a();
        int ranks = pair.ranks();
        int from = first / ranks;
        int to = Math.min(from + PIECE, pair.cols());
        FloatVector s = FloatVector.zero(F);
        int at = first;
        for (int c = from; c < to; c++) {
            s = FloatVector.fromArray(F, a, at).fma(FloatVector.broadcast(F, x[row + c]), s);
            at += ranks;
        }
        put(s, sums, sum, more);
    }

    @ForceInline
    private static void put(FloatVector sum, float[] sums, int at, boolean more) {
        (more ? FloatVector.fromArray(F, sums, at).add(sum) : sum).intoArray(sums, at);
    }

    @Override
    public void up(LowRankPair pair, LinearCall call, float[] down, int[] rows, int count) {
        // Whole vectors begin at the first block that begins here.
        int n = call.rows;
        int head = Math.min(n, (LANES - call.firstRow % LANES) % LANES);
        int fours = head + (n - head) / FOUR * FOUR;
        int vectors = head + (n - head) / LANES * LANES;
        int i = 0;
        for (; i + 2 <= count; i += 2) {
            for (int r = head; r < fours; r += FOUR) {
                upTwo(pair, call, r, down, rows[i], rows[i + 1]);
            }
        }
        if (i < count) {
            for (int r = head; r < fours; r += FOUR) {
                upFour(pair, call, r, down, rows[i]);
            }
        }
        if (head > 0 || fours < n) {
            for (i = 0; i < count; i++) {
                ScalarLowRankMath.up(this, pair, call, 0, head, down, rows[i]);
                for (int r = fours; r < vectors; r += LANES) {
                    upOne(pair, call, r, down, rows[i]);
                }
                ScalarLowRankMath.up(this, pair, call, vectors, n, down, rows[i]);
            }
        }
    }

    /// Adds to some elements of two rows.
    ///
    /// @param r the first of the elements, counted from the call's first row
    private static void upTwo(LowRankPair pair, LinearCall call, int r, float[] down, int row0, int row1) {
        float[] b = pair.b();
        float[] out = call.out.array();
        int rank = pair.rank();
        int from = (call.firstRow + r) * rank;
        int d0 = row0 * pair.ranks();
        int d1 = row1 * pair.ranks();
        int o0 = call.outOffset + row0 * call.outStride + r;
        int o1 = call.outOffset + row1 * call.outStride + r;
        FloatVector s0 = FloatVector.fromArray(F, out, o0);
        FloatVector s1 = FloatVector.fromArray(F, out, o0 + LANES);
        FloatVector s2 = FloatVector.fromArray(F, out, o0 + 2 * LANES);
        FloatVector s3 = FloatVector.fromArray(F, out, o0 + 3 * LANES);
        FloatVector t0 = FloatVector.fromArray(F, out, o1);
        FloatVector t1 = FloatVector.fromArray(F, out, o1 + LANES);
        FloatVector t2 = FloatVector.fromArray(F, out, o1 + 2 * LANES);
        FloatVector t3 = FloatVector.fromArray(F, out, o1 + 3 * LANES);
        int block = rank * LANES;
        for (int k = 0; k < rank; k++) {
            int at = from + k * LANES;
            FloatVector x = FloatVector.broadcast(F, down[d0 + k]);
            FloatVector y = FloatVector.broadcast(F, down[d1 + k]);
            FloatVector b0 = FloatVector.fromArray(F, b, at);
            FloatVector b1 = FloatVector.fromArray(F, b, at + block);
            FloatVector b2 = FloatVector.fromArray(F, b, at + 2 * block);
            FloatVector b3 = FloatVector.fromArray(F, b, at + 3 * block);
            s0 = b0.fma(x, s0);
            s1 = b1.fma(x, s1);
            s2 = b2.fma(x, s2);
            s3 = b3.fma(x, s3);
            t0 = b0.fma(y, t0);
            t1 = b1.fma(y, t1);
            t2 = b2.fma(y, t2);
            t3 = b3.fma(y, t3);
        }
        s0.intoArray(out, o0);
        s1.intoArray(out, o0 + LANES);
        s2.intoArray(out, o0 + 2 * LANES);
        s3.intoArray(out, o0 + 3 * LANES);
        t0.intoArray(out, o1);
        t1.intoArray(out, o1 + LANES);
        t2.intoArray(out, o1 + 2 * LANES);
        t3.intoArray(out, o1 + 3 * LANES);
    }

    private static void upFour(LowRankPair pair, LinearCall call, int r, float[] down, int row) {
        float[] b = pair.b();
        float[] out = call.out.array();
        int rank = pair.rank();
        int from = (call.firstRow + r) * rank;
        int d = row * pair.ranks();
        int o = call.outOffset + row * call.outStride + r;
        FloatVector s0 = FloatVector.fromArray(F, out, o);
        FloatVector s1 = FloatVector.fromArray(F, out, o + LANES);
        FloatVector s2 = FloatVector.fromArray(F, out, o + 2 * LANES);
        FloatVector s3 = FloatVector.fromArray(F, out, o + 3 * LANES);
        int block = rank * LANES;
        for (int k = 0; k < rank; k++) {
            int at = from + k * LANES;
            FloatVector x = FloatVector.broadcast(F, down[d + k]);
            s0 = FloatVector.fromArray(F, b, at).fma(x, s0);
            s1 = FloatVector.fromArray(F, b, at + block).fma(x, s1);
            s2 = FloatVector.fromArray(F, b, at + 2 * block).fma(x, s2);
            s3 = FloatVector.fromArray(F, b, at + 3 * block).fma(x, s3);
        }
        s0.intoArray(out, o);
        s1.intoArray(out, o + LANES);
        s2.intoArray(out, o + 2 * LANES);
        s3.intoArray(out, o + 3 * LANES);
    }

    private static void upOne(LowRankPair pair, LinearCall call, int r, float[] down, int row) {
        float[] b = pair.b();
        float[] out = call.out.array();
        int rank = pair.rank();
        int from = (call.firstRow + r) * rank;
        int d = row * pair.ranks();
        int o = call.outOffset + row * call.outStride + r;
        FloatVector s = FloatVector.fromArray(F, out, o);
        for (int k = 0; k < rank; k++) {
            s = FloatVector.fromArray(F, b, from + k * LANES).fma(FloatVector.broadcast(F, down[d + k]), s);
        }
        s.intoArray(out, o);
    }
}
