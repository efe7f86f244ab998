package dev.tenon.kernels.x86.linear;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.cpu.Here;
import dev.tenon.quant.formats.BF16Format;
import dev.tenon.quant.formats.F16Format;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// F16 and BF16 weights with float activations.
class F16LinearTests {
    private static final int MAX_ROWS = 33;
    private static final int MAX_TOKENS = 17;

    static Stream<Arguments> formatsAndSets() {
        return Stream.of(false, true)
                .flatMap(b -> Stream.of(FeatureSet.values()).map(s -> Arguments.of(b, s)));
    }

    private static MemorySegment weights(Arena arena, boolean bfloat, int n, int shift) {
        MemorySegment w = arena.allocate(2L * MAX_ROWS * n + shift, 64).asSlice(shift, 2L * MAX_ROWS * n);
        SplittableRandom random = new SplittableRandom(n);
        for (int i = 0; i < MAX_ROWS * n; i++) {
            float v = (float) random.nextGaussian();
            w.set(TestRows.F16, 2L * i, bfloat ? (short) (Float.floatToRawIntBits(v) >> 16) : Float.floatToFloat16(v));
        }
        return w;
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void everyShapeGivesTheProductOfTheDecodedWeights(boolean bfloat, FeatureSet set) {
        assumeTrue(Here.SETS.contains(set), "this machine lacks " + set.id);
        QuantFormat format = bfloat ? new BF16Format() : new F16Format();
        for (int n : new int[] {1, 7, 16, 31, 32, 33, 64, 100, 256, 1024}) {
            try (Arena arena = Arena.ofConfined();
                    F16Linear kernel = new F16Linear(bfloat, set)) {
                MemorySegment w = weights(arena, bfloat, n, 1);
                float[] x = TestRows.activations(MAX_TOKENS, n, 3);
                MemorySegment packed = TestRows.pack(arena, kernel, x, MAX_TOKENS, n);
                MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, MAX_TOKENS), 64);
                float[] first = new float[MAX_TOKENS * MAX_ROWS];
                for (int tokens : new int[] {MAX_TOKENS, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14}) {
                    float[] out = new float[MAX_TOKENS * MAX_ROWS];
                    kernel.run(new LinearCall(scratch)
                            .of(w, 2L * n, n)
                            .rows(0, MAX_ROWS)
                            .times(packed, tokens)
                            .to(new HostFloats(out), 0, MAX_ROWS));
                    if (tokens == MAX_TOKENS) {
                        first = out;
                    } else {
                        assertArrayEquals(
                                Arrays.copyOf(first, tokens * MAX_ROWS),
                                Arrays.copyOf(out, tokens * MAX_ROWS),
                                "values depend on the number of tokens");
                    }
                }
                float[] row = new float[n];
                for (int r = 0; r < MAX_ROWS; r++) {
                    format.dequantize(w, 2L * r * n, row, 0, n);
                    for (int t = 0; t < MAX_TOKENS; t++) {
                        double sum = 0;
                        double magnitude = 0;
                        for (int i = 0; i < n; i++) {
                            sum += (double) row[i] * x[t * n + i];
                            magnitude += Math.abs((double) row[i] * x[t * n + i]);
                        }
                        assertEquals(sum, first[t * MAX_ROWS + r], 1e-6 * magnitude, kernel + " n " + n + " row " + r);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void weightsThatAreNotFiniteShow(boolean bfloat, FeatureSet set) {
        assumeTrue(Here.SETS.contains(set), "this machine lacks " + set.id);
        int n = 65;
        for (int at : new int[] {3, 64}) {
            try (Arena arena = Arena.ofConfined();
                    F16Linear kernel = new F16Linear(bfloat, set)) {
                MemorySegment w = weights(arena, bfloat, n, 0);
                w.set(TestRows.F16, 2L * at, (short) (bfloat ? 0x7F80 : 0x7C00));
                MemorySegment packed = TestRows.pack(arena, kernel, TestRows.activations(1, n, 3), 1, n);
                float[] out = new float[1];
                MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, 1), 64);
                kernel.run(new LinearCall(scratch)
                        .of(w, 2L * n, n)
                        .rows(0, 1)
                        .times(packed, 1)
                        .to(new HostFloats(out), 0, 1));
                assertFalse(Float.isFinite(out[0]));
            }
        }
    }
}
