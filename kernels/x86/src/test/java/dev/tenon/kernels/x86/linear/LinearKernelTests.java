package dev.tenon.kernels.x86.linear;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.cpu.Here;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LinearKernelTests {
    private static final int[] ROWS = {1, 2, 3, 5, 16, 17, 33, 70};
    private static final int[] TOKENS = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 23, 24, 32, 33, 64, 100
    };
    private static final int MAX_ROWS = 70;
    private static final int MAX_TOKENS = 100;
    /// Rounding of 32-bit sums, as a part of the sum of magnitudes.
    private static final double ROUNDING = 1e-6;

    static Stream<Arguments> formatsAndSets() {
        return Stream.of(FeatureSet.values())
                .flatMap(s -> TestRows.FORMATS.stream().map(f -> Arguments.of(f, s)));
    }

    private static void assumeHere(FeatureSet set) {
        assumeTrue(Here.SETS.contains(set), "this machine lacks " + set.id + " or forbids generated code");
    }

    private static int[] lengths(TestRows.Format format) {
        return switch (format.code().blockSize()) {
            case 32 -> new int[] {32, 96, 224, 256, 288, 512, 768, 1024, 1120, 2048, 2336};
            case 64 -> new int[] {64, 192, 256, 320, 1024, 1088, 2368};
            case 128 -> new int[] {128, 256, 384, 1024, 2432};
            default -> new int[] {256, 512, 768, 1024, 2048, 2816};
        };
    }

    static List<TestRows.Format> formats() {
        return TestRows.FORMATS;
    }

    /// All sets in one test, because they pack activations to the same bytes, and so share what is expected.
    @ParameterizedTest
    @MethodSource("formats")
    void everyShapeGivesTheProductOfDecodedWeightsAndQuantisedActivations(TestRows.Format format) {
        assumeTrue(!Here.SETS.isEmpty(), "this machine forbids generated code");
        for (int n : lengths(format)) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment w = TestRows.weights(arena, format, MAX_ROWS + 2, n, n, 1);
                float[] x = TestRows.activations(MAX_TOKENS, n, 2 * n);
                MemorySegment first = null;
                Expected expected = null;
                for (FeatureSet set : Here.SETS) {
                    try (QuantizedLinear kernel = new QuantizedLinear(format.code(), set)) {
                        MemorySegment packed = TestRows.pack(arena, kernel, x, MAX_TOKENS, n);
                        if (first == null) {
                            first = packed;
                            expected = expected(format, w, packed, x, n);
                        }
                        assertEquals(-1, packed.mismatch(first), kernel + " n " + n + ": other packed activations");
                        for (int tokens : TOKENS) {
                            MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, tokens), 64);
                            for (int rows : ROWS) {
                                compare(kernel, format, w, rows, n, packed, tokens, scratch, expected);
                            }
                        }
                    }
                }
            }
        }
    }

    /// For (token, row): the exact product, rounding allowed, distance allowed from unquantised
    /// activations.
    private record Expected(double[][] product, double[][] rounding, double[][] exact, double[][] quantisation) {
        void check(int t, int r, float got, String where) {
            Supplier<String> at = () -> where + " token " + t + " row " + r;
            assertEquals(product[t][r], got, rounding[t][r], at);
            assertEquals(exact[t][r], got, quantisation[t][r], () -> at.get() + " before quantisation");
        }
    }

    private static Expected expected(TestRows.Format format, MemorySegment w, MemorySegment packed, float[] x, int n) {
        Expected e = new Expected(
                new double[MAX_TOKENS][MAX_ROWS],
                new double[MAX_TOKENS][MAX_ROWS],
                new double[MAX_TOKENS][MAX_ROWS],
                new double[MAX_TOKENS][MAX_ROWS]);
        float[][] weights = new float[MAX_ROWS][];
        for (int r = 0; r < MAX_ROWS; r++) {
            weights[r] = TestRows.decoded(format, w, r + 1, n);
        }
        PlainRow[] plain = new PlainRow[MAX_ROWS];
        Arrays.setAll(
                plain, r -> new PlainRow(format, w, (r + 1) * format.code().rowBytes(n), n));
        for (int t = 0; t < MAX_TOKENS; t++) {
            double[] q = TestRows.unpacked(format.code(), packed, t, n);
            double[] half = TestRows.halfSteps(format.code(), x, t * n, n);
            for (int r = 0; r < MAX_ROWS; r++) {
                double product = 0;
                double magnitude = 0;
                double exact = 0;
                double quantisation = 0;
                for (int i = 0; i < n; i++) {
                    double p = weights[r][i] * q[i];
                    product += p;
                    magnitude += Math.abs(p);
                    exact += (double) weights[r][i] * x[t * n + i];
                    quantisation += Math.abs(weights[r][i]) * half[i];
                }
                e.product[t][r] = product;
                e.rounding[t][r] = ROUNDING * magnitude + plain[r].biasRounding(packed, t);
                e.exact[t][r] = exact;
                e.quantisation[t][r] = quantisation + e.rounding[t][r];
            }
        }
        return e;
    }

    private static void compare(
            QuantizedLinear kernel,
            TestRows.Format format,
            MemorySegment w,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            MemorySegment scratch,
            Expected expected) {
        int stride = rows + 1;
        float[] out = new float[2 + tokens * stride];
        Arrays.fill(out, 12345);
        kernel.run(new LinearCall(scratch)
                .of(w, format.code().rowBytes(n), n)
                .rows(1, rows)
                .times(packed, tokens)
                .to(new HostFloats(out), 2, stride));
        assertEquals(12345, out[0]);
        assertEquals(12345, out[1]);
        String where = kernel + " n " + n + " tokens " + tokens + " rows " + rows;
        for (int t = 0; t < tokens; t++) {
            for (int r = 0; r < rows; r++) {
                expected.check(t, r, out[2 + t * stride + r], where);
            }
            assertEquals(12345, out[2 + t * stride + rows], "a value was written between two tokens' rows");
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void aValueDoesNotDependOnTheOtherTokensAndRows(TestRows.Format format, FeatureSet set) {
        assumeHere(set);
        int n = 2560;
        try (Arena arena = Arena.ofConfined();
                QuantizedLinear kernel = new QuantizedLinear(format.code(), set)) {
            MemorySegment w = TestRows.weights(arena, format, MAX_ROWS, n, 5, 0);
            float[] x = TestRows.activations(MAX_TOKENS, n, 6);
            MemorySegment packed = TestRows.pack(arena, kernel, x, MAX_TOKENS, n);
            MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, MAX_TOKENS), 64);
            long rowBytes = format.code().rowBytes(n);
            for (List<Integer> alike :
                    List.of(List.of(100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64))) {
                float[] first = new float[MAX_TOKENS * MAX_ROWS];
                kernel.run(new LinearCall(scratch)
                        .of(w, rowBytes, n)
                        .rows(0, MAX_ROWS)
                        .times(packed, alike.getFirst())
                        .to(new HostFloats(first), 0, MAX_ROWS));
                for (int tokens : alike) {
                    for (int from : new int[] {0, 1, 37}) {
                        float[] out = new float[MAX_TOKENS * MAX_ROWS];
                        int rows = MAX_ROWS - from;
                        kernel.run(new LinearCall(scratch)
                                .of(w, rowBytes, n)
                                .rows(from, rows)
                                .times(packed, tokens)
                                .to(new HostFloats(out), 0, rows));
                        for (int t = 0; t < Math.min(tokens, alike.getFirst()); t++) {
                            assertTrue(
                                    Arrays.equals(
                                            first,
                                            t * MAX_ROWS + from,
                                            (t + 1) * MAX_ROWS,
                                            out,
                                            t * rows,
                                            (t + 1) * rows),
                                    kernel + ", " + tokens + " tokens, token " + t + ", from row " + from);
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void theOrderOfAdditionsIsTheOneThatIsPromised(TestRows.Format format, FeatureSet set) {
        assumeHere(set);
        int rows = 40;
        int tokens = 13;
        for (int n : lengths(format)) {
            try (Arena arena = Arena.ofConfined();
                    QuantizedLinear kernel = new QuantizedLinear(format.code(), set)) {
                MemorySegment w = TestRows.weights(arena, format, rows, n, n + 1, 1);
                MemorySegment packed = TestRows.pack(arena, kernel, TestRows.activations(tokens, n, n), tokens, n);
                MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, tokens), 64);
                long rowBytes = format.code().rowBytes(n);
                float[] plain = new float[tokens * rows];
                for (int r = 0; r < rows; r++) {
                    PlainRow row = new PlainRow(format, w, r * rowBytes, n);
                    for (int t = 0; t < tokens; t++) {
                        plain[t * rows + r] = row.product(packed, t);
                    }
                }
                for (int some : new int[] {1, 3, 5, 8, tokens}) {
                    float[] out = new float[some * rows];
                    kernel.run(new LinearCall(scratch)
                            .of(w, rowBytes, n)
                            .rows(0, rows)
                            .times(packed, some)
                            .to(new HostFloats(out), 0, rows));
                    assertArrayEquals(
                            Arrays.copyOf(plain, out.length),
                            out,
                            kernel + " n " + n + " tokens " + some + ", by token and row of " + rows);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void everySetOfThisMachineGivesTheSameBits(TestRows.Format format, FeatureSet set) {
        assumeHere(set);
        FeatureSet narrowest = Here.SETS.iterator().next();
        int rows = 40;
        int tokens = 13;
        for (int n : lengths(format)) {
            float[][] out = new float[2][tokens * rows];
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment w = TestRows.weights(arena, format, rows, n, n + 1, 1);
                for (int i = 0; i < 2; i++) {
                    try (QuantizedLinear kernel = new QuantizedLinear(format.code(), i == 0 ? narrowest : set)) {
                        MemorySegment packed =
                                TestRows.pack(arena, kernel, TestRows.activations(tokens, n, n), tokens, n);
                        MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, tokens), 64);
                        long rowBytes = format.code().rowBytes(n);
                        kernel.run(new LinearCall(scratch)
                                .of(w, rowBytes, n)
                                .rows(0, rows)
                                .times(packed, tokens)
                                .to(new HostFloats(out[i]), 0, rows));
                    }
                }
            }
            assertArrayEquals(out[0], out[1], set + " and " + narrowest + ", n " + n);
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void greatestAndLeastCodesAreExact(TestRows.Format format, FeatureSet set) {
        assumeHere(set);
        int n = 512;
        for (byte code : new byte[] {0, -1, 0x7F, (byte) 0x80, 0x0F, (byte) 0xF0, 0x55, (byte) 0xAA}) {
            for (float sign : new float[] {1, -1}) {
                try (Arena arena = Arena.ofConfined();
                        QuantizedLinear kernel = new QuantizedLinear(format.code(), set)) {
                    MemorySegment w = TestRows.weights(arena, format, 3, n, 7, 1);
                    TestRows.fillCodes(format, w, code);
                    float[] x = new float[12 * n];
                    Arrays.fill(x, sign * 3.5f);
                    MemorySegment packed = TestRows.pack(arena, kernel, x, 12, n);
                    MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, 12), 64);
                    for (int tokens : new int[] {1, 12}) {
                        float[] out = new float[12 * 3];
                        kernel.run(new LinearCall(scratch)
                                .of(w, format.code().rowBytes(n), n)
                                .rows(0, 3)
                                .times(packed, tokens)
                                .to(new HostFloats(out), 0, 3));
                        for (int r = 0; r < 3; r++) {
                            double sum = 0;
                            double magnitude = 0;
                            for (float v : TestRows.decoded(format, w, r, n)) {
                                sum += v * (double) (sign * 3.5f);
                                magnitude += Math.abs(v * 3.5);
                            }
                            // Levels are unsigned inside: the sum of their offsets is rounded too.
                            double offsets = format.code().zero * 3.5 * 0.011 * n;
                            long row = r * format.code().rowBytes(n);
                            double rounding = 4 * ROUNDING * magnitude
                                    + 1e-8 * offsets
                                    + new PlainRow(format, w, row, n).biasRounding(packed, 0);
                            assertEquals(sum, out[r], rounding, kernel + " code " + code);
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void zeroDenormalAndInfiniteFactorsBehaveAsTheyShould(TestRows.Format format, FeatureSet set) {
        assumeHere(set);
        assumeTrue(format.factors().length > 0, format + " has no F16 factors");
        int n = 512;
        for (short bits : new short[] {0, (short) 0x8000, 1, 0x03FF, 0x7C00, 0x7E00}) {
            try (Arena arena = Arena.ofConfined();
                    QuantizedLinear kernel = new QuantizedLinear(format.code(), set)) {
                MemorySegment w = TestRows.weights(arena, format, 2, n, 8, 0);
                for (long b = 0; b < w.byteSize(); b += format.quant().blockBytes()) {
                    for (int f : format.factors()) {
                        w.set(TestRows.F16, b + f, bits);
                    }
                }
                float[] x = TestRows.activations(12, n, 9);
                MemorySegment packed = TestRows.pack(arena, kernel, x, 12, n);
                MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, 12), 64);
                for (int tokens : new int[] {1, 12}) {
                    float[] out = new float[12 * 2];
                    kernel.run(new LinearCall(scratch)
                            .of(w, format.code().rowBytes(n), n)
                            .rows(0, 2)
                            .times(packed, tokens)
                            .to(new HostFloats(out), 0, 2));
                    double[] q = TestRows.unpacked(format.code(), packed, 0, n);
                    for (int r = 0; r < 2; r++) {
                        double sum = 0;
                        double magnitude = 0;
                        float[] v = TestRows.decoded(format, w, r, n);
                        for (int i = 0; i < n; i++) {
                            sum += v[i] * q[i];
                            magnitude += Math.abs(v[i] * q[i]);
                        }
                        if ((bits & 0x7C00) == 0x7C00) {
                            assertFalse(Float.isFinite(out[r]), kernel + " hides a factor that is not finite");
                        } else {
                            long row = r * format.code().rowBytes(n);
                            double rounding = 4 * ROUNDING * magnitude
                                    + 1e-30
                                    + new PlainRow(format, w, row, n).biasRounding(packed, 0);
                            assertEquals(sum, out[r], rounding, kernel + " factor " + bits);
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void packedRowsAreWhatTheFormulaSays(TestRows.Format format, FeatureSet set) {
        assumeHere(set);
        BlockCode code = format.code();
        float most = code.words ? Short.MAX_VALUE : Byte.MAX_VALUE;
        for (int n : lengths(format)) {
            try (Arena arena = Arena.ofConfined();
                    QuantizedLinear kernel = new QuantizedLinear(code, set)) {
                float[] x = TestRows.activations(1, n + 3, 10);
                Arrays.fill(x, 3, 3 + 32, 0);
                MemorySegment packed = arena.allocate(kernel.packedBytes(n), 64);
                packed.fill((byte) 0x55);
                kernel.pack(new HostFloats(x), 3, n, packed);
                for (int g = 0; g < n / code.group; g++) {
                    int first = g * code.group;
                    float m = TestRows.most(code, x, 3, n, g);
                    boolean exact = code.words || code.tiled;
                    float dx = Float.intBitsToFloat(Float.floatToRawIntBits(m / most) & (exact ? -1 : -4));
                    float inverse = most / m;
                    int sum = 0;
                    for (int i = first; i < first + code.group; i++) {
                        int q = (int) Math.rint(x[3 + i] * inverse);
                        assertEquals(q, TestRows.quantised(code, packed, 0, i), "q[" + i + "]");
                        sum += q;
                    }
                    long at = TestRows.scaleOffset(code, n, g);
                    assertEquals(dx, packed.get(ValueLayout.JAVA_FLOAT, TestRows.dxOffset(code, n, g)));
                    long piece = TestRows.pieceOffset(code, n, g);
                    long scales = piece + PackedActivations.pieceScales(code);
                    for (int i = first; i < first + code.group; i++) {
                        assertEquals(
                                TestRows.quantised(code, packed, 0, i),
                                TestRows.quantised(code, packed, piece, i - first),
                                "q[" + i + "] in its piece");
                    }
                    if (code.tiled) {
                        float c = PackedActivations.BIAS - sum * code.zero;
                        assertEquals(c, packed.get(ValueLayout.JAVA_FLOAT, at), "c");
                        assertEquals(c, packed.get(ValueLayout.JAVA_FLOAT, scales), "c in its piece");
                        continue;
                    }
                    assertEquals(dx, packed.get(ValueLayout.JAVA_FLOAT, scales));
                    if (code.words) {
                        continue;
                    }
                    for (int i = 1; i < 3; i++) {
                        assertEquals(
                                packed.get(ValueLayout.JAVA_FLOAT, at + (long) i * PackedActivations.arrayBytes(code)),
                                packed.get(ValueLayout.JAVA_FLOAT, scales + (long) i * Float.BYTES));
                    }
                    float c = code.mins ? sum * (dx * -code.zero) : PackedActivations.BIAS - sum * code.zero;
                    int array = PackedActivations.arrayBytes(code);
                    assertEquals(c, packed.get(ValueLayout.JAVA_FLOAT, at + array), 0f);
                    double u = packed.get(ValueLayout.JAVA_FLOAT, at + 2 * array);
                    assertEquals(-(double) PackedActivations.BIAS * dx, u, 0.0, "u is exact");
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formatsAndSets")
    void activationsThatAreNotFiniteAreNotHidden(TestRows.Format format, FeatureSet set) {
        assumeHere(set);
        int n = 256;
        for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            try (Arena arena = Arena.ofConfined();
                    QuantizedLinear kernel = new QuantizedLinear(format.code(), set)) {
                MemorySegment w = TestRows.weights(arena, format, 2, n, 11, 0);
                float[] x = TestRows.activations(12, n, 12);
                for (int t = 0; t < 12; t++) {
                    x[t * n + 77] = bad;
                }
                MemorySegment packed = TestRows.pack(arena, kernel, x, 12, n);
                MemorySegment scratch = arena.allocate(kernel.scratchBytes(n, 12), 64);
                for (int tokens : new int[] {1, 12}) {
                    float[] out = new float[12 * 2];
                    kernel.run(new LinearCall(scratch)
                            .of(w, format.code().rowBytes(n), n)
                            .rows(0, 2)
                            .times(packed, tokens)
                            .to(new HostFloats(out), 0, 2));
                    for (int i = 0; i < tokens * 2; i++) {
                        assertFalse(Float.isFinite(out[i]), kernel + " hides " + bad);
                    }
                }
            }
        }
    }
}
