package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.AttentionKernel;
import dev.tenon.api.device.PlanOptions.KvType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;

/// An [AttentionKernel] in plain Java, as its documentation says; counts its calls.
final class AttentionTestKernel implements AttentionKernel {
    final AtomicInteger calls = new AtomicInteger();
    private volatile KvType type;

    @Override
    public String name() {
        return "test.attention";
    }

    @Override
    public String format() {
        return "ANY";
    }

    @Override
    public boolean accepts(KvType keyType, KvType valueType, int keyLength, int valueLength) {
        type = keyType;
        return keyType == valueType && keyLength % 32 == 0 && valueLength % 32 == 0;
    }

    @Override
    public long scratchBytes(int keyLength, int valueLength) {
        return 128;
    }

    @Override
    public void attend(
            MemorySegment keys,
            MemorySegment values,
            int keyLength,
            int valueLength,
            float[] q,
            float[] max,
            float[] sum,
            float[] acc,
            int[] runs,
            int runCount,
            MemorySegment scratch) {
        calls.incrementAndGet();
        scratch.asSlice(0, 128).fill((byte) 1);
        for (int i = 0; i < runCount * RUN; i += RUN) {
            for (int row = runs[i]; row < runs[i] + runs[i + 1]; row++) {
                attend(keys, values, keyLength, valueLength, q, max, sum, acc, row, runs[i + 2], runs[i + 3]);
            }
        }
    }

    private void attend(
            MemorySegment keys,
            MemorySegment values,
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
                float key = element(keys, keyLength, i * TOKENS + p, i / 32 * TOKENS + p);
                weights[p] = Math.fma(q[row * keyLength + i], key, weights[p]);
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
                float value = element(values, valueLength, p * valueLength + i, p * (valueLength / 32) + i / 32);
                a = Math.fma(weights[p], value, a);
            }
            acc[row * valueLength + i] = a;
        }
    }

    private float element(MemorySegment page, int length, int at, int scale) {
        return switch (type) {
            case F32 -> page.getAtIndex(ValueLayout.JAVA_FLOAT, at);
            case F16 -> half(page, 2L * at);
            case Q8_0 -> page.get(ValueLayout.JAVA_BYTE, at) * half(page, (long) length * TOKENS + 2L * scale);
        };
    }

    private static float half(MemorySegment page, long at) {
        return Float.float16ToFloat(page.get(ValueLayout.JAVA_SHORT, at));
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
