package dev.tenon.backend.cpu.vector.kernel.lowrank;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.ForceInline;
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
    public void down(
            float[] a,
            int from,
            int to,
            int ranks,
            float[] x,
            int width,
            int[] rows,
            int first,
            int last,
            float[] sums,
            boolean more) {
        for (int k = 0; k < ranks; k += LANES) {
            int i = first;
            for (; i + EIGHT <= last; i += EIGHT) {
                downEight(a, from, to, ranks, k, x, width, rows, i, sums, more);
            }
            for (; i < last; i++) {
                downOne(a, from, to, ranks, k, x, rows[i] * width, sums, rows[i] * ranks + k, more);
            }
        }
    }

    private static void downEight(
            float[] a,
            int from,
            int to,
            int ranks,
            int k,
            float[] x,
            int width,
            int[] rows,
            int i,
            float[] sums,
            boolean more) {
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
        int at = from * ranks + k;
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

    private static void downOne(
            float[] a, int from, int to, int ranks, int k, float[] x, int row, float[] sums, int sum, boolean more) {
        FloatVector s = FloatVector.zero(F);
        int at = from * ranks + k;
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
    public void up(
            float[] b,
            int rank,
            int from,
            int n,
            float[] down,
            int ranks,
            int[] rows,
            int count,
            float[] out,
            int at,
            int stride) {
        // Whole vectors begin at the first block that begins here.
        int head = Math.min(n, (LANES - from % LANES) % LANES);
        int fours = head + (n - head) / FOUR * FOUR;
        int vectors = head + (n - head) / LANES * LANES;
        int i = 0;
        for (; i + 2 <= count; i += 2) {
            int o0 = at + rows[i] * stride;
            int o1 = at + rows[i + 1] * stride;
            for (int r = head; r < fours; r += FOUR) {
                upTwo(b, rank, (from + r) * rank, down, rows[i] * ranks, rows[i + 1] * ranks, out, o0 + r, o1 + r);
            }
        }
        if (i < count) {
            for (int r = head; r < fours; r += FOUR) {
                upFour(b, rank, (from + r) * rank, down, rows[i] * ranks, out, at + rows[i] * stride + r);
            }
        }
        if (head > 0 || fours < n) {
            for (i = 0; i < count; i++) {
                int d = rows[i] * ranks;
                int o = at + rows[i] * stride;
                ScalarLowRankMath.up(this, b, rank, from, head, down, d, out, o);
                for (int r = fours; r < vectors; r += LANES) {
                    upOne(b, rank, (from + r) * rank, down, d, out, o + r);
                }
                ScalarLowRankMath.up(this, b, rank, from + vectors, n - vectors, down, d, out, o + vectors);
            }
        }
    }

    private static void upTwo(
            float[] b, int rank, int from, float[] down, int d0, int d1, float[] out, int o0, int o1) {
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

    private static void upFour(float[] b, int rank, int from, float[] down, int d, float[] out, int o) {
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

    private static void upOne(float[] b, int rank, int from, float[] down, int d, float[] out, int o) {
        FloatVector s = FloatVector.fromArray(F, out, o);
        for (int k = 0; k < rank; k++) {
            s = FloatVector.fromArray(F, b, from + k * LANES).fma(FloatVector.broadcast(F, down[d + k]), s);
        }
        s.intoArray(out, o);
    }
}
