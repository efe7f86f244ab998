package dev.tenon.backend.cpu.vector.kernel.attention;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.backend.cpu.vector.kernel.Exp;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import dev.tenon.backend.cpu.vector.kernel.VectorExp;
import java.util.Arrays;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/// The arithmetic of attention with the Vector API. Keys lie transposed, so that lanes are positions
/// for scores and elements for values, and no sum runs across lanes; four rows share each loaded
/// vector.
@CompileThresholdScaling(0.03)
public final class VectorAttention implements AttentionMath {
    @Override
    public void scores(float[] q, int first, int rows, int length, float[] keys, float[] scores) {
        int r = first;
        for (; r + 4 <= first + rows; r += 4) {
            for (int c = 0; c < TILE; c += 2 * LANES) {
                scores4(q, r * length, length, keys, c, scores, r * TILE + c);
            }
        }
        for (; r < first + rows; r++) {
            for (int c = 0; c < TILE; c += 4 * LANES) {
                scores1(q, r * length, length, keys, c, scores, r * TILE + c);
            }
        }
    }

    private static void scores4(float[] q, int at, int length, float[] keys, int c, float[] scores, int s) {
        FloatVector a0 = FloatVector.zero(F);
        FloatVector a1 = a0;
        FloatVector b0 = a0;
        FloatVector b1 = a0;
        FloatVector c0 = a0;
        FloatVector c1 = a0;
        FloatVector d0 = a0;
        FloatVector d1 = a0;
        for (int i = 0; i < length; i++) {
            FloatVector k0 = FloatVector.fromArray(F, keys, c + i * TILE);
            FloatVector k1 = FloatVector.fromArray(F, keys, c + i * TILE + LANES);
            FloatVector x = FloatVector.broadcast(F, q[at + i]);
            a0 = x.fma(k0, a0);
            a1 = x.fma(k1, a1);
            x = FloatVector.broadcast(F, q[at + length + i]);
            b0 = x.fma(k0, b0);
            b1 = x.fma(k1, b1);
            x = FloatVector.broadcast(F, q[at + 2 * length + i]);
            c0 = x.fma(k0, c0);
            c1 = x.fma(k1, c1);
            x = FloatVector.broadcast(F, q[at + 3 * length + i]);
            d0 = x.fma(k0, d0);
            d1 = x.fma(k1, d1);
        }
        a0.intoArray(scores, s);
        a1.intoArray(scores, s + LANES);
        b0.intoArray(scores, s + TILE);
        b1.intoArray(scores, s + TILE + LANES);
        c0.intoArray(scores, s + 2 * TILE);
        c1.intoArray(scores, s + 2 * TILE + LANES);
        d0.intoArray(scores, s + 3 * TILE);
        d1.intoArray(scores, s + 3 * TILE + LANES);
    }

    private static void scores1(float[] q, int at, int length, float[] keys, int c, float[] scores, int s) {
        FloatVector a0 = FloatVector.zero(F);
        FloatVector a1 = a0;
        FloatVector a2 = a0;
        FloatVector a3 = a0;
        for (int i = 0; i < length; i++) {
            FloatVector x = FloatVector.broadcast(F, q[at + i]);
            a0 = x.fma(FloatVector.fromArray(F, keys, c + i * TILE), a0);
            a1 = x.fma(FloatVector.fromArray(F, keys, c + i * TILE + LANES), a1);
            a2 = x.fma(FloatVector.fromArray(F, keys, c + i * TILE + 2 * LANES), a2);
            a3 = x.fma(FloatVector.fromArray(F, keys, c + i * TILE + 3 * LANES), a3);
        }
        a0.intoArray(scores, s);
        a1.intoArray(scores, s + LANES);
        a2.intoArray(scores, s + 2 * LANES);
        a3.intoArray(scores, s + 3 * LANES);
    }

    @Override
    public void weigh(SoftmaxRows rows, int row, int from, int to) {
        float[] scores = rows.scores();
        float[] max = rows.max();
        float[] sum = rows.sum();
        int at = row * TILE;
        if (from > 0 || to < TILE) {
            Arrays.fill(scores, at, at + from, Float.NEGATIVE_INFINITY);
            Arrays.fill(scores, at + to, at + TILE, Float.NEGATIVE_INFINITY);
        }
        float oldMax = max[row];
        float newMax = Math.max(oldMax, max(scores, at));
        int strands = scores.length - SPARE;
        exponentials(scores, at, newMax, strands);
        float factor = oldMax == newMax ? 1 : Exp.exp(oldMax - newMax);
        rows.keep()[row] = factor;
        max[row] = newMax;
        sum[row] = Math.fma(sum[row], factor, Strands.sum(scores, strands));
    }

    private static float max(float[] scores, int at) {
        FloatVector m = FloatVector.fromArray(F, scores, at);
        for (int p = LANES; p < TILE; p += LANES) {
            m = m.lanewise(VectorOperators.MAX, FloatVector.fromArray(F, scores, at + p));
        }
        return m.reduceLanes(VectorOperators.MAX);
    }

    private static void exponentials(float[] scores, int at, float max, int strands) {
        for (int s = 0; s < Strands.COUNT; s += LANES) {
            FloatVector low = VectorExp.nonPositive(
                    FloatVector.fromArray(F, scores, at + s).sub(max));
            FloatVector high = VectorExp.nonPositive(
                    FloatVector.fromArray(F, scores, at + s + Strands.COUNT).sub(max));
            low.intoArray(scores, at + s);
            high.intoArray(scores, at + s + Strands.COUNT);
            low.add(high).intoArray(scores, strands + s);
        }
    }

    @Override
    public void mix(SoftmaxRows rows, int first, int count, int stride, float[] values, int from, int to) {
        int r = first;
        for (; r + 4 <= first + count; r += 4) {
            for (int c = 0; c < stride; c += 2 * LANES) {
                mix4(rows, r, stride, values, c, from, to);
            }
        }
        for (; r < first + count; r++) {
            for (int c = 0; c < stride; c += 2 * LANES) {
                mix1(rows, r, stride, values, c, from, to);
            }
        }
    }

    private static void mix4(SoftmaxRows rows, int r, int stride, float[] values, int c, int from, int to) {
        float[] acc = rows.acc();
        float[] keep = rows.keep();
        float[] weights = rows.scores();
        int o = r * stride + c;
        FloatVector a0 = FloatVector.fromArray(F, acc, o).mul(keep[r]);
        FloatVector a1 = FloatVector.fromArray(F, acc, o + LANES).mul(keep[r]);
        FloatVector b0 = FloatVector.fromArray(F, acc, o + stride).mul(keep[r + 1]);
        FloatVector b1 = FloatVector.fromArray(F, acc, o + stride + LANES).mul(keep[r + 1]);
        FloatVector c0 = FloatVector.fromArray(F, acc, o + 2 * stride).mul(keep[r + 2]);
        FloatVector c1 = FloatVector.fromArray(F, acc, o + 2 * stride + LANES).mul(keep[r + 2]);
        FloatVector d0 = FloatVector.fromArray(F, acc, o + 3 * stride).mul(keep[r + 3]);
        FloatVector d1 = FloatVector.fromArray(F, acc, o + 3 * stride + LANES).mul(keep[r + 3]);
        int w = r * TILE;
        for (int p = from; p < to; p++) {
            FloatVector v0 = FloatVector.fromArray(F, values, c + p * stride);
            FloatVector v1 = FloatVector.fromArray(F, values, c + p * stride + LANES);
            FloatVector x = FloatVector.broadcast(F, weights[w + p]);
            a0 = x.fma(v0, a0);
            a1 = x.fma(v1, a1);
            x = FloatVector.broadcast(F, weights[w + TILE + p]);
            b0 = x.fma(v0, b0);
            b1 = x.fma(v1, b1);
            x = FloatVector.broadcast(F, weights[w + 2 * TILE + p]);
            c0 = x.fma(v0, c0);
            c1 = x.fma(v1, c1);
            x = FloatVector.broadcast(F, weights[w + 3 * TILE + p]);
            d0 = x.fma(v0, d0);
            d1 = x.fma(v1, d1);
        }
        a0.intoArray(acc, o);
        a1.intoArray(acc, o + LANES);
        b0.intoArray(acc, o + stride);
        b1.intoArray(acc, o + stride + LANES);
        c0.intoArray(acc, o + 2 * stride);
        c1.intoArray(acc, o + 2 * stride + LANES);
        d0.intoArray(acc, o + 3 * stride);
        d1.intoArray(acc, o + 3 * stride + LANES);
    }

    private static void mix1(SoftmaxRows rows, int r, int stride, float[] values, int c, int from, int to) {
        float[] acc = rows.acc();
        float[] weights = rows.scores();
        float keep = rows.keep()[r];
        int o = r * stride + c;
        int w = r * TILE;
        FloatVector a0 = FloatVector.fromArray(F, acc, o).mul(keep);
        FloatVector a1 = FloatVector.fromArray(F, acc, o + LANES).mul(keep);
        for (int p = from; p < to; p++) {
            FloatVector x = FloatVector.broadcast(F, weights[w + p]);
            a0 = x.fma(FloatVector.fromArray(F, values, c + p * stride), a0);
            a1 = x.fma(FloatVector.fromArray(F, values, c + p * stride + LANES), a1);
        }
        a0.intoArray(acc, o);
        a1.intoArray(acc, o + LANES);
    }

    @Override
    public void keyLevels(byte[] levels, float[] scales, int length, float[] keys) {
        for (int b = 0; b < length / 32; b++) {
            for (int c = 0; c < TILE; c += LANES) {
                keyColumns(levels, FloatVector.fromArray(F, scales, b * TILE + c), b * 32 * TILE + c, keys);
            }
        }
    }

    private static void keyColumns(byte[] levels, FloatVector scale, int at, float[] keys) {
        for (int i = at; i < at + 32 * TILE; i += TILE) {
            floats(levels, i).mul(scale).intoArray(keys, i);
        }
    }

    @Override
    public void valueLevels(byte[] levels, float[] scales, int length, int stride, int from, int to, float[] values) {
        int blocks = length / 32;
        for (int p = from; p < to; p++) {
            for (int b = 0; b < blocks; b++) {
                FloatVector scale = FloatVector.broadcast(F, scales[p * blocks + b]);
                for (int i = b * 32; i < b * 32 + 32; i += LANES) {
                    floats(levels, p * length + i).mul(scale).intoArray(values, p * stride + i);
                }
            }
        }
    }

    @ForceInline
    private static FloatVector floats(byte[] levels, int at) {
        return (FloatVector) ByteVector.fromArray(Species.B, levels, at).convertShape(VectorOperators.B2F, F, 0);
    }
}
