package dev.tenon.kernels.x86;

import dev.tenon.api.device.AttentionKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// What [AttentionKernel] promises, in plain Java, one number after the other.
final class PlainAttention {
    private static final int TOKENS = AttentionKernel.TOKENS;

    private PlainAttention() {}

    /// {@return the keys of a page as floats, `[keyLength, TOKENS]`}
    static float[] keys(AttentionShape.Type type, MemorySegment page, int length) {
        float[] keys = new float[length * TOKENS];
        for (int i = 0; i < keys.length; i++) {
            int scale = i / TOKENS / 32 * TOKENS + i % TOKENS;
            keys[i] = element(type, page, i, keys.length, scale);
        }
        return keys;
    }

    /// {@return the values of a page as floats, `[TOKENS, valueLength]`}
    static float[] values(AttentionShape.Type type, MemorySegment page, int length) {
        float[] values = new float[length * TOKENS];
        for (int i = 0; i < values.length; i++) {
            int scale = i / length * (length / 32) + i % length / 32;
            values[i] = element(type, page, i, values.length, scale);
        }
        return values;
    }

    private static float element(AttentionShape.Type type, MemorySegment page, int i, int count, int scale) {
        return switch (type) {
            case F32 -> page.getAtIndex(ValueLayout.JAVA_FLOAT, i);
            case F16 -> half(page, 2L * i);
            case Q8_0 -> page.get(ValueLayout.JAVA_BYTE, i) * half(page, count + 2L * scale);
        };
    }

    private static float half(MemorySegment page, long at) {
        return Float.float16ToFloat(page.get(ValueLayout.JAVA_SHORT, at));
    }

    /// Lets a row attend to positions `[from, to)` of a page.
    static void attend(
            float[] keys,
            float[] values,
            int keyLength,
            int valueLength,
            float[] q,
            float[] max,
            float[] sum,
            float[] acc,
            int row,
            int from,
            int to) {
        float[] weights = new float[TOKENS];
        float m = max[row];
        for (int p = from; p < to; p++) {
            for (int i = 0; i < keyLength; i++) {
                weights[p] = Math.fma(q[row * keyLength + i], keys[i * TOKENS + p], weights[p]);
            }
            m = Math.max(m, weights[p]);
        }
        for (int p = from; p < to; p++) {
            weights[p] = exp(weights[p] - m);
        }
        float keep = exp(max[row] - m);
        max[row] = m;
        float[] tree = new float[TOKENS / 2];
        for (int j = 0; j < tree.length; j++) {
            tree[j] = weights[j] + weights[j + tree.length];
        }
        for (int half = tree.length / 2; half > 0; half /= 2) {
            for (int j = 0; j < half; j++) {
                tree[j] += tree[j + half];
            }
        }
        sum[row] = Math.fma(sum[row], keep, tree[0]);
        for (int i = 0; i < valueLength; i++) {
            float a = acc[row * valueLength + i] * keep;
            for (int p = from; p < to; p++) {
                a = Math.fma(weights[p], values[p * valueLength + i], a);
            }
            acc[row * valueLength + i] = a;
        }
    }

    private static float exp(float x) {
        if (x < -86.5f) {
            return 0;
        }
        float shifted = Math.fma(x, 1.44269504f, 12582912f);
        float n = shifted - 12582912f;
        float r = Math.fma(n, 2.12194440e-4f, Math.fma(n, -0.693359375f, x));
        float p = 1 / 720f;
        float[] coefficients = {1 / 120f, 1 / 24f, 1 / 6f, 0.5f, 1, 1};
        for (float c : coefficients) {
            p = Math.fma(p, r, c);
        }
        return Float.intBitsToFloat(Float.floatToRawIntBits(p) + (Float.floatToRawIntBits(shifted) << 23));
    }
}
