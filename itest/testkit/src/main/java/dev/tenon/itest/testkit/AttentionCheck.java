package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.itest.testkit.reference.PlainAttention;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;

/// Compares an [AttentionKernel], bit for bit, with [PlainAttention].
final class AttentionCheck {
    private static final int TOKENS = AttentionKernel.TOKENS;
    private static final int ROWS = 20;
    /// Bytes of a page in front of the keys, and between them and the values.
    private static final long OTHERS = 192;
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
                    Head head = head(arena, runs[runs.length - 1]);
                    attend(kernel, head, q, got, runs, scratch);
                    attend(new PlainAttention(type), head, q, expected, runs, scratch);
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

    private void attend(AttentionKernel by, Head head, float[] q, float[][] state, int[] runs, MemorySegment scratch) {
        AttentionRows rows = new AttentionRows(q, state[0], state[1], state[2], runs);
        by.attend(head.page, head.keysAt, head.valuesAt, keyLength, valueLength, rows, scratch);
    }

    private float[][] state() {
        float[] max = new float[ROWS];
        Arrays.fill(max, Float.NEGATIVE_INFINITY);
        return new float[][] {max, new float[ROWS], new float[ROWS * valueLength]};
    }

    /// Keys and values of a head somewhere in a page.
    private record Head(MemorySegment page, long keysAt, long valuesAt) {}

    private Head head(Arena arena, int used) {
        long valuesAt = OTHERS + bytes(keyLength) + OTHERS;
        MemorySegment page = arena.allocate(valuesAt + bytes(valueLength), 64);
        fill(page.asSlice(OTHERS, bytes(keyLength)), keyLength, true, used);
        fill(page.asSlice(valuesAt, bytes(valueLength)), valueLength, false, used);
        return new Head(page, OTHERS, valuesAt);
    }

    private long bytes(int length) {
        long count = (long) length * TOKENS;
        return switch (type) {
            case F32 -> 4 * count;
            case F16 -> 2 * count;
            case Q8_0 -> count + count / 32 * 2;
        };
    }

    private void fill(MemorySegment elements, int length, boolean keys, int used) {
        int count = length * TOKENS;
        for (int i = 0; i < count; i++) {
            float x = (keys ? i % TOKENS : i / length) < used ? (float) random.nextGaussian() : Float.NaN;
            switch (type) {
                case F32 -> elements.setAtIndex(ValueLayout.JAVA_FLOAT, i, x);
                case F16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(x));
                case Q8_0 -> elements.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
        }
        for (int s = 0; type == KvType.Q8_0 && s < count / 32; s++) {
            float scale = (keys ? s % TOKENS : s / (length / 32)) < used ? random.nextFloat() / 64 : Float.NaN;
            elements.set(ValueLayout.JAVA_SHORT, count + 2L * s, Float.floatToFloat16(scale));
        }
    }
}
