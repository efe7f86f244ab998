package dev.tenon.itest.testkit.reference;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/// What [AttentionKernel] promises for pages of one element type, in plain Java, one number after the other: the
/// truth that kernels are compared with, bit for bit. Needs no scratch memory; safe for any thread.
public class PlainAttention implements AttentionKernel {
    private static final int BLOCK = 32;

    private final KvType type;

    /// Creates the kernel.
    ///
    /// @param type element type of keys and values
    public PlainAttention(KvType type) {
        this.type = type;
    }

    @Override
    public String name() {
        return "plain.attention." + type.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String format() {
        return type.name();
    }

    @Override
    public boolean accepts(KvType keyType, KvType valueType, int keyLength, int valueLength) {
        return keyType == type && valueType == type && keyLength % BLOCK == 0 && valueLength % BLOCK == 0;
    }

    @Override
    public long scratchBytes(int keyLength, int valueLength) {
        return 0;
    }

    @Override
    public void attend(
            MemorySegment page,
            long keysAt,
            long valuesAt,
            int keyLength,
            int valueLength,
            AttentionRows rows,
            MemorySegment scratch) {
        float[] keys = new float[keyLength * TOKENS];
        for (int i = 0; i < keys.length; i++) {
            int scale = i / TOKENS / BLOCK * TOKENS + i % TOKENS;
            keys[i] = element(page, keysAt, i, keys.length, scale);
        }
        float[] values = new float[TOKENS * valueLength];
        for (int i = 0; i < values.length; i++) {
            values[i] = element(page, valuesAt, i, values.length, i / BLOCK);
        }
        float[] q = rows.q().toArray(ValueLayout.JAVA_FLOAT);
        for (int i = 0; i < rows.runCount() * RUN; i += RUN) {
            int from = rows.run(i + 2);
            int to = rows.run(i + 3);
            for (int row = rows.run(i); row < rows.run(i) + rows.run(i + 1); row++) {
                float before = get(rows.max(), row);
                float[] weights = new float[TOKENS];
                float max = before;
                for (int p = from; p < to; p++) {
                    for (int e = 0; e < keyLength; e++) {
                        weights[p] = Math.fma(q[row * keyLength + e], keys[e * TOKENS + p], weights[p]);
                    }
                    max = Math.max(max, weights[p]);
                }
                for (int p = from; p < to; p++) {
                    weights[p] = exp(weights[p] - max);
                }
                float keep = exp(before - max);
                set(rows.max(), row, max);
                set(rows.sum(), row, Math.fma(get(rows.sum(), row), keep, tree(weights)));
                for (int e = 0; e < valueLength; e++) {
                    float acc = get(rows.acc(), row * valueLength + e) * keep;
                    for (int p = from; p < to; p++) {
                        acc = Math.fma(weights[p], values[p * valueLength + e], acc);
                    }
                    set(rows.acc(), row * valueLength + e, acc);
                }
            }
        }
    }

    private static float get(MemorySegment numbers, int index) {
        return numbers.getAtIndex(ValueLayout.JAVA_FLOAT, index);
    }

    private static void set(MemorySegment numbers, int index, float value) {
        numbers.setAtIndex(ValueLayout.JAVA_FLOAT, index, value);
    }

    private static float tree(float[] weights) {
        float[] sums = weights.clone();
        for (int half = TOKENS / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                sums[i] += sums[i + half];
            }
        }
        return sums[0];
    }

    /// {@return an element}
    ///
    /// @param at byte of the first
    /// @param i which one
    /// @param count elements before the scales
    /// @param scale which scale is its
    private float element(MemorySegment page, long at, int i, int count, int scale) {
        return switch (type) {
            case F32 -> page.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at + 4L * i);
            case F16 -> f16(page, at + 2L * i);
            case Q8_0 -> page.get(ValueLayout.JAVA_BYTE, at + i) * f16(page, at + count + 2L * scale);
        };
    }

    private static float f16(MemorySegment page, long at) {
        return Float.float16ToFloat(page.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
    }

    static float exp(float x) {
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
