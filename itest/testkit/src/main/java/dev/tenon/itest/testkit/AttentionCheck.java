package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.tenon.api.device.AttentionKernel;
import dev.tenon.api.device.PlanOptions.KvType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;

/// Compares an [AttentionKernel], bit for bit, with what its documentation says, computed one number after the other.
final class AttentionCheck {
    private static final int TOKENS = AttentionKernel.TOKENS;
    private static final int RUN = AttentionKernel.RUN;
    private static final int ROWS = 20;
    private static final int[][] RUNS = {
        {1, 4, 0, 64}, {0, 20, 0, 63}, {2, 1, 0, 1}, {0, 3, 5, 6, 3, 3, 5, 7, 6, 3, 5, 8, 9, 11, 9, 64}
    };

    private final AttentionKernel kernel;
    private final KvType type;
    private final int keyLength;
    private final int valueLength;
    private final Random random = new Random(9);

    /// Prepares a check.
    ///
    /// @param type element type of keys and values
    AttentionCheck(AttentionKernel kernel, KvType type, int keyLength, int valueLength) {
        this.kernel = kernel;
        this.type = type;
        this.keyLength = keyLength;
        this.valueLength = valueLength;
    }

    /// Two pages for all runs; positions that nobody sees hold what is not a number.
    void run() {
        for (int[] runs : RUNS) {
            float[] q = new float[ROWS * keyLength];
            for (int i = 0; i < q.length; i++) {
                q[i] = (float) random.nextGaussian() / 2;
            }
            float[][] got = state();
            float[][] expected = state();
            try (Arena arena = Arena.ofConfined()) {
                long bytes = Math.max(64, kernel.scratchBytes(keyLength, valueLength));
                MemorySegment scratch = arena.allocate(bytes, 64);
                for (int page = 0; page < 2; page++) {
                    MemorySegment keys = page(arena, keyLength, true, runs[runs.length - 1]);
                    MemorySegment values = page(arena, valueLength, false, runs[runs.length - 1]);
                    attend(keys, values, q, got, runs, scratch);
                    plain(keys, values, q, expected, runs);
                }
            }
            String[] parts = {"maxima", "sums of weights", "values"};
            for (int i = 0; i < parts.length; i++) {
                assertArrayEquals(
                        expected[i],
                        got[i],
                        kernel.name() + ", keys of " + keyLength + ", values of " + valueLength + ", runs "
                                + Arrays.toString(runs) + ": " + parts[i]);
            }
        }
    }

    private void attend(
            MemorySegment keys, MemorySegment values, float[] q, float[][] state, int[] runs, MemorySegment scratch) {
        kernel.attend(
                keys,
                values,
                keyLength,
                valueLength,
                q,
                state[0],
                state[1],
                state[2],
                runs,
                runs.length / RUN,
                scratch);
    }

    private float[][] state() {
        float[] max = new float[ROWS];
        Arrays.fill(max, Float.NEGATIVE_INFINITY);
        return new float[][] {max, new float[ROWS], new float[ROWS * valueLength]};
    }

    private MemorySegment page(Arena arena, int length, boolean keys, int used) {
        int count = length * TOKENS;
        boolean levels = type == KvType.Q8_0;
        long elementBytes = levels ? 1 : type == KvType.F16 ? 2 : 4;
        MemorySegment page = arena.allocate(count * elementBytes + (levels ? count / 32 * 2L : 0), 64);
        for (int i = 0; i < count; i++) {
            float x = (keys ? i % TOKENS : i / length) < used ? (float) random.nextGaussian() : Float.NaN;
            switch (type) {
                case F32 -> page.setAtIndex(ValueLayout.JAVA_FLOAT, i, x);
                case F16 -> page.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(x));
                case Q8_0 -> page.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
        }
        for (int s = 0; levels && s < count / 32; s++) {
            float scale = (keys ? s % TOKENS : s / (length / 32)) < used ? random.nextFloat() / 64 : Float.NaN;
            page.set(ValueLayout.JAVA_SHORT, count + 2L * s, Float.floatToFloat16(scale));
        }
        return page;
    }

    /// What a kernel has to compute.
    void plain(MemorySegment keys, MemorySegment values, float[] q, float[][] state, int[] runs) {
        for (int i = 0; i < runs.length; i += RUN) {
            for (int row = runs[i]; row < runs[i] + runs[i + 1]; row++) {
                plain(keys, values, q, state, row, runs[i + 2], runs[i + 3]);
            }
        }
    }

    private void plain(
            MemorySegment keys, MemorySegment values, float[] q, float[][] state, int row, int from, int to) {
        float[] weights = new float[TOKENS];
        float max = state[0][row];
        for (int p = from; p < to; p++) {
            for (int i = 0; i < keyLength; i++) {
                float key = element(keys, keyLength, i * TOKENS + p, i / 32 * TOKENS + p);
                weights[p] = Math.fma(q[row * keyLength + i], key, weights[p]);
            }
            max = Math.max(max, weights[p]);
        }
        for (int p = from; p < to; p++) {
            weights[p] = exp(weights[p] - max);
        }
        float keep = exp(state[0][row] - max);
        state[0][row] = max;
        float[] tree = new float[TOKENS / 2];
        for (int j = 0; j < tree.length; j++) {
            tree[j] = weights[j] + weights[j + tree.length];
        }
        for (int half = tree.length / 2; half > 0; half /= 2) {
            for (int j = 0; j < half; j++) {
                tree[j] += tree[j + half];
            }
        }
        state[1][row] = Math.fma(state[1][row], keep, tree[0]);
        for (int i = 0; i < valueLength; i++) {
            float a = state[2][row * valueLength + i] * keep;
            for (int p = from; p < to; p++) {
                float value = element(values, valueLength, p * valueLength + i, p * (valueLength / 32) + i / 32);
                a = Math.fma(weights[p], value, a);
            }
            state[2][row * valueLength + i] = a;
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
