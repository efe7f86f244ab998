package dev.tenon.kernels.x86.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.itest.testkit.reference.PlainAttention;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.cpu.Here;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(names = {"AVX2", "AVX512"})
class MachineAttentionTests {
    private static final int TOKENS = AttentionKernel.TOKENS;

    @Parameter
    private FeatureSet set;

    private final Random random = new Random(7);

    private void assumeHere() {
        assumeTrue(Here.SETS.contains(set), "this machine lacks " + set.id);
    }

    /// A page of one head, first its keys and then its values, whose unused bytes hold what is not a number, so that
    /// reading them shows.
    private MemorySegment page(Arena arena, AttentionShape shape, int used) {
        long keyBytes = shape.headBytes(shape.keyLength());
        MemorySegment page = arena.allocate(keyBytes + shape.headBytes(shape.valueLength()), 64);
        fill(page.asSlice(0, keyBytes), shape, shape.keyLength(), true, used);
        fill(page.asSlice(keyBytes), shape, shape.valueLength(), false, used);
        return page;
    }

    private void fill(MemorySegment elements, AttentionShape shape, int length, boolean keys, int used) {
        int count = length * TOKENS;
        for (int i = 0; i < count; i++) {
            int position = keys ? i % TOKENS : i / length;
            float x = position < used ? (float) random.nextGaussian() : Float.NaN;
            switch (shape.type()) {
                case F32 -> elements.setAtIndex(ValueLayout.JAVA_FLOAT, i, x);
                case F16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(x));
                case Q8_0 -> elements.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
        }
        for (int s = 0; shape.type() == AttentionShape.Type.Q8_0 && s < count / 32; s++) {
            int position = keys ? s % TOKENS : s / (length / 32);
            float scale = position < used ? random.nextFloat() / 64 : Float.NaN;
            elements.set(ValueLayout.JAVA_SHORT, count + 2L * s, Float.floatToFloat16(scale));
        }
    }

    private float[] values(int count, float scale) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian() * scale;
        }
        return values;
    }

    /// Runs of rows: all over the whole page; then tokens of one group of query heads each, every one of which
    /// sees a position more; then after a window.
    private static int[][] runs(int group) {
        return new int[][] {
            {1, group, 0, 64},
            {0, 3 * group, 0, 64},
            {0, 16 * group, 0, 63},
            {2, group, 0, 1},
            {0, group, 5, 6, group, group, 5, 7, 2 * group, group, 5, 8, 3 * group, 2 * group, 6, 64},
            {0, group, 0, 31, group, 9 * group, 1, 32, 10 * group, 5 * group, 17, 49},
        };
    }

    @ParameterizedTest
    @CsvSource({
        "F16, 64, 64, 4",
        "F32, 64, 64, 4",
        "Q8_0, 64, 64, 4",
        "F16, 128, 128, 2",
        "F32, 128, 64, 1",
        "Q8_0, 32, 96, 3",
        "F16, 96, 160, 7",
        "F16, 256, 256, 1",
        "Q8_0, 128, 128, 8",
        "F32, 32, 32, 5"
    })
    void everyBitIsThatOfThePlainLoops(AttentionShape.Type type, int keyLength, int valueLength, int group) {
        assumeHere();
        AttentionShape shape = new AttentionShape(type, keyLength, valueLength);
        try (Arena arena = Arena.ofConfined();
                MachineAttention kernel = new MachineAttention(type, set)) {
            MemorySegment scratch = arena.allocate(kernel.scratchBytes(keyLength, valueLength), 64);
            for (int[] runs : runs(group)) {
                int used = runs[runs.length - 1];
                int rows = 16 * group + 2;
                float[] q = values(rows * keyLength, 0.5f);
                float[][][] states = new float[2][][];
                for (int form = 0; form < 2; form++) {
                    float[] max = new float[rows];
                    Arrays.fill(max, Float.NEGATIVE_INFINITY);
                    states[form] = new float[][] {max, new float[rows], new float[rows * valueLength]};
                }
                for (int pages = 0; pages < 2; pages++) {
                    MemorySegment page = page(arena, shape, used);
                    AttentionKernel[] forms = {kernel, new PlainAttention(KvType.valueOf(type.name()))};
                    for (int form = 0; form < 2; form++) {
                        forms[form].attend(
                                page,
                                0,
                                shape.headBytes(keyLength),
                                keyLength,
                                valueLength,
                                new AttentionRows(q, states[form][0], states[form][1], states[form][2], runs),
                                scratch);
                    }
                }
                for (int i = 0; i < 3; i++) {
                    assertArrayEquals(states[1][i], states[0][i], Arrays.toString(runs) + ", part " + i);
                }
                assertTrue(Float.isFinite(states[0][2][(runs[0]) * valueLength]));
            }
        }
    }

    @Test
    void scoresThatAreFarApartGiveWeightsOfZero() {
        assumeHere();
        AttentionShape shape = new AttentionShape(AttentionShape.Type.F32, 32, 32);
        try (Arena arena = Arena.ofConfined();
                MachineAttention kernel = new MachineAttention(AttentionShape.Type.F32, set)) {
            MemorySegment scratch = arena.allocate(kernel.scratchBytes(32, 32), 64);
            int count = 32 * TOKENS;
            MemorySegment page = arena.allocate(2 * shape.headBytes(32), 64);
            for (int p = 0; p < TOKENS; p++) {
                page.setAtIndex(ValueLayout.JAVA_FLOAT, p, p == 9 ? 200 : p);
                page.setAtIndex(ValueLayout.JAVA_FLOAT, count + 32L * p, p);
            }
            float[] q = new float[32];
            q[0] = 1;
            float[] max = {Float.NEGATIVE_INFINITY};
            float[] sum = {0};
            float[] acc = new float[32];
            AttentionRows row = new AttentionRows(q, max, sum, acc, new int[] {0, 1, 0, 64});
            kernel.attend(page, 0, shape.headBytes(32), 32, 32, row, scratch);
            assertEquals(200, max[0]);
            assertEquals(1, sum[0]);
            assertEquals(9, acc[0]);
        }
    }

    @ParameterizedTest
    @EnumSource
    void onlyPagesOfItsTypeAndWholeBlocksAreAccepted(AttentionShape.Type type) {
        MachineAttention kernel = new MachineAttention(type, set);
        for (KvType keys : KvType.values()) {
            for (KvType values : KvType.values()) {
                boolean own = keys == values && keys.name().equals(type.name());
                assertEquals(own, kernel.accepts(keys, values, 64, 128), keys + " " + values);
                assertFalse(kernel.accepts(keys, values, 80, 64));
                assertFalse(kernel.accepts(keys, values, 64, 48));
                assertFalse(kernel.accepts(keys, values, 1024, 64));
                assertFalse(kernel.accepts(keys, values, 0, 64));
            }
        }
        assertEquals("attention", kernel.op());
        assertEquals("cpu", kernel.deviceKind());
        assertEquals(type.name(), kernel.format());
    }

    @Test
    void argumentsThatWouldLeaveMemoryAreRefused() {
        assumeHere();
        try (Arena arena = Arena.ofConfined();
                MachineAttention kernel = new MachineAttention(AttentionShape.Type.F16, set)) {
            MemorySegment head = arena.allocate(64 * 64 * 2, 64);
            MemorySegment scratch = arena.allocate(kernel.scratchBytes(64, 64), 64);
            int[] one = {0, 1, 0, 64};
            refused(kernel, head, 2, 0, one, 1, scratch, 1);
            refused(kernel, head, 0, 2, one, 1, scratch, 1);
            refused(kernel, head, -2, 0, one, 1, scratch, 1);
            refused(kernel, head, 0, Long.MAX_VALUE, one, 1, scratch, 1);
            refused(kernel, head.asSlice(2), 0, 0, one, 1, scratch, 1);
            refused(kernel, MemorySegment.ofArray(new byte[8192]), 0, 0, one, 1, scratch, 1);
            refused(kernel, head, 0, 0, one, 1, scratch.asSlice(64), 1);
            refused(kernel, head, 0, 0, one, 0, scratch, 1);
            refused(kernel, head, 0, 0, one, 2, scratch, 1);
            refused(kernel, head, 0, 0, one, 1, scratch, 0);
            int[][] wrong = {
                {0, 2, 0, 64},
                {1, 1, 0, 64},
                {-1, 1, 0, 64},
                {0, 0, 0, 64},
                {0, 1, -1, 64},
                {0, 1, 0, 65},
                {0, 1, 5, 5},
                {0, Integer.MAX_VALUE, 0, 64},
                {Integer.MAX_VALUE, 1, 0, 64}
            };
            for (int[] runs : wrong) {
                refused(kernel, head, 0, 0, runs, 1, scratch, 1);
            }
            refused(kernel, head, 0, 0, new int[] {0, 1, 3, 9, 0, 1, 2, 9}, 2, scratch, 1);
            refused(kernel, head, 0, 0, new int[] {0, 1, 3, 9, 0, 1, 3, 8}, 2, scratch, 1);
        }
    }

    /// {@return rows of 64 elements}
    private static AttentionRows rows(int count, int... runs) {
        return new AttentionRows(
                new float[64 * count], new float[count], new float[count], new float[64 * count], runs);
    }

    private static void refused(
            AttentionKernel kernel,
            MemorySegment page,
            long keysAt,
            long valuesAt,
            int[] runs,
            int runCount,
            MemorySegment scratch,
            int rows) {
        AttentionRows query = rows(rows, runs);
        query.runCount(runCount);
        BackendException e = assertThrows(
                BackendException.class,
                () -> kernel.attend(page, keysAt, valuesAt, 64, 64, query, scratch),
                Arrays.toString(runs));
        assertEquals(ErrorCode.ARGUMENT, e.code());
    }

    @Test
    void aClosedKernelFailsWithATypedError() {
        assumeHere();
        try (Arena arena = Arena.ofConfined()) {
            MachineAttention kernel = new MachineAttention(AttentionShape.Type.F16, set);
            MemorySegment head = arena.allocate(64 * 64 * 2, 64);
            MemorySegment scratch = arena.allocate(kernel.scratchBytes(64, 64), 64);
            Runnable call = () -> kernel.attend(head, 0, 0, 64, 64, rows(1, 0, 1, 0, 64), scratch);
            call.run();
            kernel.close();
            assertEquals(
                    ErrorCode.CLOSED,
                    assertThrows(BackendException.class, call::run).code());
        }
    }
}
