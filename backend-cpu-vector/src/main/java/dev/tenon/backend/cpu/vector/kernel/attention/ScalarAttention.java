package dev.tenon.backend.cpu.vector.kernel.attention;

import dev.tenon.backend.cpu.vector.kernel.Exp;
import dev.tenon.backend.cpu.vector.kernel.Strands;

/// The arithmetic of attention in plain Java.
final class ScalarAttention implements AttentionMath {
    @Override
    public void scores(float[] q, int first, int rows, int length, float[] keys, float[] scores) {
        for (int r = first; r < first + rows; r++) {
            for (int p = 0; p < TILE; p++) {
                float sum = 0;
                for (int i = 0; i < length; i++) {
                    sum = Math.fma(q[r * length + i], keys[i * TILE + p], sum);
                }
                scores[r * TILE + p] = sum;
            }
        }
    }

    @Override
    public void weigh(SoftmaxRows rows, int row, int from, int to) {
        float[] scores = rows.scores();
        float[] max = rows.max();
        float[] sum = rows.sum();
        float[] keep = rows.keep();
        int at = row * TILE;
        float newMax = max[row];
        for (int p = 0; p < TILE; p++) {
            if (p < from || p >= to) {
                scores[at + p] = Float.NEGATIVE_INFINITY;
            }
            newMax = Math.max(newMax, scores[at + p]);
        }
        float[] strands = new float[Strands.COUNT];
        for (int p = 0; p < TILE; p++) {
            float weight = Exp.exp(scores[at + p] - newMax);
            scores[at + p] = weight;
            strands[p % Strands.COUNT] += weight;
        }
        for (int distance = Strands.COUNT / 2; distance > 0; distance /= 2) {
            for (int i = 0; i < distance; i++) {
                strands[i] += strands[i + distance];
            }
        }
        keep[row] = Exp.exp(max[row] - newMax);
        max[row] = newMax;
        sum[row] = Math.fma(sum[row], keep[row], strands[0]);
    }

    @Override
    public void mix(SoftmaxRows rows, int first, int count, int stride, float[] values, int from, int to) {
        float[] acc = rows.acc();
        float[] keep = rows.keep();
        float[] weights = rows.scores();
        for (int r = first; r < first + count; r++) {
            for (int i = 0; i < stride; i++) {
                float a = acc[r * stride + i] * keep[r];
                for (int p = from; p < to; p++) {
                    a = Math.fma(weights[r * TILE + p], values[p * stride + i], a);
                }
                acc[r * stride + i] = a;
            }
        }
    }

    @Override
    public void keyLevels(byte[] levels, float[] scales, int length, float[] keys) {
        for (int i = 0; i < length; i++) {
            for (int p = 0; p < TILE; p++) {
                keys[i * TILE + p] = levels[i * TILE + p] * scales[i / 32 * TILE + p];
            }
        }
    }

    @Override
    public void valueLevels(byte[] levels, float[] scales, int length, int stride, int from, int to, float[] values) {
        for (int p = from; p < to; p++) {
            for (int i = 0; i < length; i++) {
                values[p * stride + i] = levels[p * length + i] * scales[p * (length / 32) + i / 32];
            }
        }
    }
}
