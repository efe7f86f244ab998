package dev.tenon.backend.cpu.vector.kernel.linear;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import dev.tenon.quant.formats.BF16Format;
import dev.tenon.quant.formats.F16Format;
import dev.tenon.quant.formats.F32Format;
import dev.tenon.quant.formats.IQ4_NLFormat;
import dev.tenon.quant.formats.IQ4_XSFormat;
import dev.tenon.quant.formats.MXFP4Format;
import dev.tenon.quant.formats.Q2_KFormat;
import dev.tenon.quant.formats.Q3_KFormat;
import dev.tenon.quant.formats.Q4_0Format;
import dev.tenon.quant.formats.Q4_1Format;
import dev.tenon.quant.formats.Q4_KFormat;
import dev.tenon.quant.formats.Q5_0Format;
import dev.tenon.quant.formats.Q5_1Format;
import dev.tenon.quant.formats.Q5_KFormat;
import dev.tenon.quant.formats.Q6_KFormat;
import dev.tenon.quant.formats.Q8_0Format;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Runs at the width that `tenon.vector.bits` gives; the build runs it for every width.
class KernelTests {
    private static final int[] ROWS = {1, 3, 17};
    private static final int[] TOKENS = {1, 2, 3, 4, 7, 13};

    static Stream<QuantFormat> formats() {
        return Stream.of(
                new F32Format(),
                new F16Format(),
                new BF16Format(),
                new Q8_0Format(),
                new Q6_KFormat(),
                new Q5_KFormat(),
                new Q4_KFormat(),
                new Q5_1Format(),
                new Q5_0Format(),
                new Q4_1Format(),
                new Q4_0Format(),
                new IQ4_NLFormat(),
                new IQ4_XSFormat(),
                new MXFP4Format(),
                new Q3_KFormat(),
                new Q2_KFormat());
    }

    private static int[] columns(QuantFormat format) {
        int block = format.blockSize();
        return switch (block) {
            case 1 -> new int[] {1, 31, 32, 33, 100, 2048};
            // Of a turn of 16 blocks and one of 5, the last is no whole iteration.
            case 32 -> new int[] {32, 3 * 32, 21 * 32, 2048};
            default -> new int[] {block, 3 * block, 2048};
        };
    }

    /// Random bytes with finite scales: every level, sub-scale and sign occurs.
    private static MemorySegment randomBlocks(QuantFormat format, int elements, Random random, Arena arena) {
        MemorySegment data = arena.allocate(format.bytesFor(elements) + 1);
        // One byte off, so that nothing is aligned.
        MemorySegment odd = data.asSlice(1);
        float[] values = new float[elements];
        for (int i = 0; i < elements; i++) {
            values[i] = (float) random.nextGaussian();
        }
        format.quantizer().orElseThrow().quantize(values, 0, odd, 0, elements);
        int block = format.blockBytes();
        int factors = factorsAt(format);
        int factorBytes = format.id().matches("Q[245]_K|Q[45]_1") ? 2 * Short.BYTES : Short.BYTES;
        for (long i = 0; block > 4 && i < odd.byteSize(); i++) {
            long at = i % block;
            if (at < factors || at >= factors + factorBytes) {
                odd.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
        }
        return odd;
    }

    /// {@return where the float16 factors of a block begin}
    private static int factorsAt(QuantFormat format) {
        return switch (format.id()) {
            case "Q6_K" -> 208;
            case "Q3_K" -> 108;
            case "Q2_K" -> 80;
            default -> 0;
        };
    }

    @ParameterizedTest
    @MethodSource("formats")
    void sumsEqualTheFormatsValuesForAllShapes(QuantFormat format) {
        FloatLinear kernel = PackedTestKernel.of(format);
        assertNotNull(kernel, format.id());
        for (int rows : ROWS) {
            for (int n : columns(format)) {
                long seed = rows * 10007L + n;
                Random random = new Random(seed);
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment data = randomBlocks(format, rows * n, random, arena);
                    float[] values = new float[rows * n];
                    format.dequantize(data, 0, values, 0, values.length);
                    for (int tokens : TOKENS) {
                        check(kernel, format, data, values, rows, n, tokens, random, "seed " + seed);
                    }
                }
            }
        }
    }

    private static void check(
            FloatLinear kernel,
            QuantFormat format,
            MemorySegment data,
            float[] values,
            int rows,
            int n,
            int tokens,
            Random random,
            String seed) {
        float[] x = new float[tokens * n];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) random.nextGaussian();
        }
        int stride = rows + 2;
        float[] out = new float[tokens * stride];
        kernel.run(
                new LinearCall(MemorySegment.NULL)
                        .of(data, format.bytesFor(n), n)
                        .rows(0, rows)
                        .times(MemorySegment.NULL, tokens)
                        .to(new HostFloats(out), 0, stride),
                x,
                Scratch.of(kernel, n));
        for (int t = 0; t < tokens; t++) {
            for (int r = 0; r < rows; r++) {
                double sum = 0;
                double size = 0;
                for (int i = 0; i < n; i++) {
                    double product = (double) values[r * n + i] * x[t * n + i];
                    sum += product;
                    size += Math.abs(product);
                }
                String where = kernel.name() + " rows " + rows + " cols " + n + " tokens " + tokens + ": row " + r
                        + " token " + t + ", " + seed;
                assertEquals(sum, out[t * stride + r], 1e-6 * Math.sqrt(n) * size + 1e-30, where);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void everyTokenCountGivesTheBitsOfTheWrittenOrder(QuantFormat format) {
        FloatLinear kernel = PackedTestKernel.of(format);
        int n = format.blockSize() == 1 ? 1000 : 2048;
        int rows = 19;
        Random random = new Random(11);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = randomBlocks(format, rows * n, random, arena);
            float[] values = new float[rows * n];
            format.dequantize(data, 0, values, 0, values.length);
            float[] x = new float[13 * n];
            for (int i = 0; i < x.length; i++) {
                x[i] = (float) random.nextGaussian();
            }
            Scratch scratch = Scratch.of(kernel, n);
            float[] all = new float[13 * rows];
            kernel.run(
                    new LinearCall(MemorySegment.NULL)
                            .of(data, format.bytesFor(n), n)
                            .rows(0, rows)
                            .times(MemorySegment.NULL, 13)
                            .to(new HostFloats(all), 0, rows),
                    x,
                    scratch);
            float[] one = new float[rows];
            for (int t = 0; t < 13; t++) {
                float[] token = Arrays.copyOfRange(x, t * n, (t + 1) * n);
                kernel.run(
                        new LinearCall(MemorySegment.NULL)
                                .of(data, format.bytesFor(n), n)
                                .rows(0, 5)
                                .times(MemorySegment.NULL, 1)
                                .to(new HostFloats(one), 0, rows),
                        token,
                        scratch);
                kernel.run(
                        new LinearCall(MemorySegment.NULL)
                                .of(data, format.bytesFor(n), n)
                                .rows(5, rows - 5)
                                .times(MemorySegment.NULL, 1)
                                .to(new HostFloats(one), 5, rows),
                        token,
                        scratch);
                for (int r = 0; r < rows; r++) {
                    assertEquals(one[r], all[t * rows + r], kernel.name() + " row " + r + " token " + t);
                    // Scale and offset are fused: values differ from the format's by a rounding.
                    if (format.id().matches("Q[46]_K")) {
                        float sum = permuted(format.id(), data, r * format.bytesFor(n), token, n);
                        assertEquals(sum, one[r], kernel.name() + " row " + r);
                    } else if (!format.id().matches("Q5_K|Q[45]_1")) {
                        assertEquals(strands(values, r * n, token, n), one[r], kernel.name() + " row " + r);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void panelsAndChunksOfAnySizeGiveTheBitsOfOneToken(QuantFormat format) {
        FloatLinear kernel = PackedTestKernel.of(format);
        int n = Math.max(format.blockSize(), 32) * 3;
        int most = 259;
        Random random = new Random(12);
        try (Arena arena = Arena.ofConfined()) {
            for (int rows : new int[] {63, 64, 70}) {
                MemorySegment data = randomBlocks(format, rows * n, random, arena);
                float[] x = new float[most * n];
                for (int i = 0; i < x.length; i++) {
                    x[i] = (float) random.nextGaussian();
                }
                Scratch scratch = Scratch.of(kernel, n);
                float[] one = new float[most * rows];
                float[] sums = new float[rows];
                for (int t = 0; t < most; t++) {
                    float[] token = Arrays.copyOfRange(x, t * n, (t + 1) * n);
                    kernel.run(
                            new LinearCall(MemorySegment.NULL)
                                    .of(data, format.bytesFor(n), n)
                                    .rows(0, rows)
                                    .times(MemorySegment.NULL, 1)
                                    .to(new HostFloats(sums), 0, rows),
                            token,
                            scratch);
                    System.arraycopy(sums, 0, one, t * rows, rows);
                }
                for (int tokens : new int[] {5, 256, most}) {
                    float[] all = new float[tokens * rows];
                    kernel.run(
                            new LinearCall(MemorySegment.NULL)
                                    .of(data, format.bytesFor(n), n)
                                    .rows(0, rows)
                                    .times(MemorySegment.NULL, tokens)
                                    .to(new HostFloats(all), 0, rows),
                            x,
                            scratch);
                    for (int i = 0; i < all.length; i++) {
                        String where = kernel.name() + " tokens " + tokens + " rows " + rows + ": token " + i / rows;
                        assertEquals(one[i], all[i], where + " row " + i % rows);
                    }
                }
            }
        }
    }

    /// The order of `Strands` in plain Java.
    private static float strands(float[] w, int at, float[] x, int n) {
        float[] s = new float[32];
        for (int i = 0; i < n; i++) {
            s[i % 32] = Math.fma(w[at + i], x[i], s[i % 32]);
        }
        for (int half = 16; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                s[i] += s[i + half];
            }
        }
        return s[0];
    }

    /// The order of `PermutedLinear` in plain Java: levels as they lie in the ints of 64 bytes.
    private static float permuted(String format, MemorySegment w, long offset, float[] x, int n) {
        boolean six = format.equals("Q6_K");
        float[][] s = new float[3][16];
        float[] numbers = new float[16];
        for (int b = 0; b < n / 256; b++) {
            long p = offset + (six ? 210L : 144L) * b;
            for (int i = 0; i < 16; i++) {
                numbers[i] = six ? Species.f16(w, p + 208) * w.get(ValueLayout.JAVA_BYTE, p + 192 + i) : 0;
            }
            if (!six) {
                Unpacking.scalesAndOffsets(w, p, numbers, 0);
            }
            for (int v = 0; v < 16; v++) {
                int half = v / 8;
                int nibble = v / 4 % 2;
                int fourth = v % 4;
                for (int lane = 0; lane < 16; lane++) {
                    int l = 4 * lane + fourth;
                    int level = w.get(ValueLayout.JAVA_BYTE, p + (six ? 0 : 16) + 64 * half + l) >> 4 * nibble & 15;
                    int element = six ? 128 * half + 64 * nibble + l : 128 * half + l / 32 * 64 + 32 * nibble + l % 32;
                    if (six) {
                        int high = w.get(ValueLayout.JAVA_BYTE, p + 128 + 32 * half + l % 32);
                        level |= (high >> 4 * nibble + 2 * (l / 32) & 3) << 4;
                    }
                    int bits = six && fourth == 3 ? 0 : 8 * fourth;
                    float value = (float) (level << bits) * numbers[element / (six ? 16 : 32)];
                    float activation = x[256 * b + element] / (1 << bits);
                    s[v % 2][lane] = Math.fma(value, activation, s[v % 2][lane]);
                }
            }
            for (int i = 0; i < 16; i++) {
                float sum = 0;
                int from = 256 * b + (six ? 16 * i : 32 * (i - 8));
                for (int k = 0; k < (six ? 16 : i < 8 ? 0 : 32); k++) {
                    sum += x[from + k];
                }
                s[2][i] = Math.fma(numbers[i], six ? -32 * sum : sum, s[2][i]);
            }
        }
        for (int i = 0; i < 16; i++) {
            s[0][i] = s[0][i] + s[1][i] + s[2][i];
        }
        for (int half = 8; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                s[0][i] += s[0][i + half];
            }
        }
        return s[0][0];
    }

    @ParameterizedTest
    @MethodSource("formats")
    void extremeScalesGiveTheFormatsValues(QuantFormat format) {
        FloatLinear kernel = PackedTestKernel.of(format);
        int n = Math.max(format.blockSize(), 32);
        short[] numbers = {0, (short) 0x8000, 1, (short) 0x83FF, 0x0400, 0x3C00, 0x7BFF, (short) 0xFBFF, 0x7C00, 0x7E01
        };
        for (short bits : numbers) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment data = randomBlocks(format, n, new Random(3), arena);
                data.set(ValueLayout.JAVA_SHORT_UNALIGNED, factorsAt(format), bits);
                float[] values = new float[n];
                format.dequantize(data, 0, values, 0, n);
                for (int i = 0; i < n; i++) {
                    // One element at a time: what it is multiplied with is its value.
                    float[] x = new float[n];
                    x[i] = 1;
                    float[] out = new float[1];
                    kernel.run(
                            new LinearCall(MemorySegment.NULL)
                                    .of(data, format.bytesFor(n), n)
                                    .rows(0, 1)
                                    .times(MemorySegment.NULL, 1)
                                    .to(new HostFloats(out), 0, 1),
                            x,
                            Scratch.of(kernel, n));
                    String where = kernel.name() + " f16 " + Integer.toHexString(bits) + " element " + i;
                    if (Float.isFinite(values[i]) && Float.isFinite(out[0])) {
                        float tolerance = format.id().matches("Q[45]_[K1]") ? 1e-5f * (1 + Math.abs(values[i])) : 0;
                        assertEquals(values[i], out[0], tolerance, where);
                    } else {
                        boolean someNotFinite = false;
                        for (float value : values) {
                            someNotFinite |= !Float.isFinite(value);
                        }
                        assertTrue(someNotFinite && !Float.isFinite(out[0]), where);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void rowsAfterTheEndAreRefused(QuantFormat format) {
        FloatLinear kernel = PackedTestKernel.of(format);
        int n = Math.max(format.blockSize(), 32);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(format.bytesFor(n));
            for (int tokens : new int[] {1, 8}) {
                try {
                    kernel.run(
                            new LinearCall(MemorySegment.NULL)
                                    .of(data, format.bytesFor(n), n)
                                    .rows(1, 1)
                                    .times(MemorySegment.NULL, tokens)
                                    .to(new HostFloats(new float[16]), 1, 2),
                            new float[8 * n],
                            Scratch.of(kernel, n));
                    fail(kernel.name() + " read past its segment");
                } catch (IndexOutOfBoundsException expected) {
                    assertNotNull(expected.getMessage());
                }
            }
        }
    }
}
