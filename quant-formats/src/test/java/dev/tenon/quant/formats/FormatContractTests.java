package dev.tenon.quant.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What every format must do with odd sizes, small buffers and odd values.
class FormatContractTests {
    private static final int BLOCKS = 3;

    static Stream<QuantFormat> formats() {
        return QuantFormats.all().stream();
    }

    static Stream<QuantFormat> formatsThatAreWritten() {
        return formats().filter(f -> f.quantizer().isPresent());
    }

    static Stream<QuantFormat> formatsWithLargerBlocks() {
        return formats().filter(f -> f.blockSize() > 1);
    }

    /// Formats whose scale follows from the largest value alone; the others search, so a second
    /// round may differ.
    static Stream<QuantFormat> formatsWithoutSearch() {
        List<String> ids = List.of("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q5_0", "MXFP4");
        return formats().filter(f -> ids.contains(f.id()));
    }

    @ParameterizedTest
    @MethodSource("formatsWithLargerBlocks")
    void partOfABlockIsRefused(QuantFormat format) {
        float[] values = new float[4 * format.blockSize()];
        MemorySegment blocks = MemorySegment.ofArray(new byte[4 * format.blockBytes()]);
        for (int n : new int[] {1, format.blockSize() - 1, format.blockSize() + 1}) {
            String text = assertThrows(IllegalArgumentException.class, () -> format.dequantize(blocks, 0, values, 0, n))
                    .getMessage();
            assertTrue(text.contains(format.id()) && text.contains(" " + format.blockSize() + " "), text);
            format.quantizer()
                    .ifPresent(quantizer -> assertThrows(
                            IllegalArgumentException.class, () -> quantizer.quantize(values, 0, blocks, 0, n)));
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void aNegativeCountIsRefused(QuantFormat format) {
        int n = -format.blockSize();
        MemorySegment blocks = MemorySegment.ofArray(new byte[format.blockBytes()]);
        assertThrows(
                IllegalArgumentException.class,
                () -> format.dequantize(blocks, 0, new float[format.blockSize()], 0, n));
        format.quantizer()
                .ifPresent(quantizer -> assertThrows(
                        IllegalArgumentException.class,
                        () -> quantizer.quantize(new float[format.blockSize()], 0, blocks, 0, n)));
    }

    @ParameterizedTest
    @MethodSource("formats")
    void noElementsTouchNothing(QuantFormat format) {
        float[] values = {7};
        byte[] bytes = {9};
        format.dequantize(MemorySegment.ofArray(bytes), 1, values, 1, 0);
        format.quantizer().ifPresent(q -> q.quantize(values, 1, MemorySegment.ofArray(bytes), 1, 0));
        assertArrayEquals(new float[] {7}, values);
        assertArrayEquals(new byte[] {9}, bytes);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void aSourceThatIsTooSmallIsRefused(QuantFormat format) {
        int n = BLOCKS * format.blockSize();
        int bytes = BLOCKS * format.blockBytes();
        float[] values = filled(n);
        float[] before = values.clone();
        MemorySegment small = MemorySegment.ofArray(new byte[bytes - 1]);
        MemorySegment whole = MemorySegment.ofArray(new byte[bytes]);
        assertOutOfBounds(format, () -> format.dequantize(small, 0, values, 0, n));
        assertOutOfBounds(format, () -> format.dequantize(whole, 1, values, 0, n));
        assertOutOfBounds(format, () -> format.dequantize(whole, -1, values, 0, n));
        assertOutOfBounds(format, () -> format.dequantize(whole, Long.MAX_VALUE, values, 0, n));
        assertOutOfBounds(format, () -> format.dequantize(whole, Long.MIN_VALUE, values, 0, n));
        assertArrayEquals(before, values, "the target is left alone");
    }

    @ParameterizedTest
    @MethodSource("formatsThatAreWritten")
    void anEncodersRangesAreChecked(QuantFormat format) {
        int n = BLOCKS * format.blockSize();
        int bytes = BLOCKS * format.blockBytes();
        float[] values = filled(n);
        MemorySegment small = MemorySegment.ofArray(new byte[bytes - 1]);
        byte[] target = new byte[bytes];
        MemorySegment blocks = MemorySegment.ofArray(target);
        assertOutOfBounds(format, () -> quantizer(format).quantize(new float[n - 1], 0, blocks, 0, n));
        assertOutOfBounds(format, () -> quantizer(format).quantize(values, 1, blocks, 0, n));
        assertOutOfBounds(format, () -> quantizer(format).quantize(values, -1, blocks, 0, n));
        assertOutOfBounds(format, () -> quantizer(format).quantize(values, 0, small, 0, n));
        assertOutOfBounds(format, () -> quantizer(format).quantize(values, 0, blocks, 1, n));
        assertOutOfBounds(format, () -> quantizer(format).quantize(values, 0, blocks, Long.MAX_VALUE, n));
        assertArrayEquals(new byte[bytes], target, "the target is left alone");
    }

    @ParameterizedTest
    @MethodSource("formats")
    void aTargetThatIsTooSmallIsRefused(QuantFormat format) {
        int n = BLOCKS * format.blockSize();
        int bytes = BLOCKS * format.blockBytes();
        float[] values = filled(n);
        MemorySegment blocks = MemorySegment.ofArray(new byte[bytes]);
        assertOutOfBounds(format, () -> format.dequantize(blocks, 0, new float[n - 1], 0, n));
        assertOutOfBounds(format, () -> format.dequantize(blocks, 0, values, 1, n));
        assertOutOfBounds(format, () -> format.dequantize(blocks, 0, values, -1, n));
        assertOutOfBounds(format, () -> format.dequantize(blocks, 0, values, Integer.MAX_VALUE, n));
    }

    @ParameterizedTest
    @MethodSource("formats")
    void blocksBeyondFourGigabytesAreReached(QuantFormat format) {
        byte[] block = new byte[format.blockBytes()];
        new Random(5).nextBytes(block);
        float[] expected = new float[format.blockSize()];
        format.dequantize(MemorySegment.ofArray(block), 0, expected, 0, expected.length);
        try (Arena arena = Arena.ofConfined()) {
            long far = (1L << 32) + 7;
            MemorySegment near = arena.allocate(block.length);
            MemorySegment.copy(MemorySegment.ofArray(block), 0, near, 0, block.length);
            MemorySegment shifted =
                    MemorySegment.ofAddress(near.address() - far).reinterpret(far + block.length);
            float[] got = new float[expected.length];
            format.dequantize(shifted, far, got, 0, got.length);
            assertArrayEquals(expected, got);
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void manyBlocksDecodeAsTheyDoOneByOne(QuantFormat format) {
        int blocks = 4 * 4096 / format.blockBytes() + 3;
        byte[] bytes = new byte[blocks * format.blockBytes()];
        new Random(7).nextBytes(bytes);
        int n = blocks * format.blockSize();
        float[] whole = new float[n + 2];
        float[] single = new float[n + 2];
        MemorySegment source = MemorySegment.ofArray(bytes);
        format.dequantize(source, 0, whole, 1, n);
        for (int b = 0; b < blocks; b++) {
            long offset = (long) b * format.blockBytes();
            format.dequantize(source, offset, single, 1 + b * format.blockSize(), format.blockSize());
        }
        assertArrayEquals(single, whole);
        assertEquals(0, whole[0]);
        assertEquals(0, whole[n + 1]);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void anyBytesDecodeWithoutAnException(QuantFormat format) {
        byte[] bytes = new byte[64 * format.blockBytes()];
        float[] values = new float[64 * format.blockSize()];
        for (int seed = 0; seed < 20; seed++) {
            new Random(seed).nextBytes(bytes);
            format.dequantize(MemorySegment.ofArray(bytes), 0, values, 0, values.length);
        }
        Arrays.fill(bytes, (byte) 0xff);
        format.dequantize(MemorySegment.ofArray(bytes), 0, values, 0, values.length);
    }

    @ParameterizedTest
    @MethodSource("formatsThatAreWritten")
    void zerosStayZeros(QuantFormat format) {
        int n = BLOCKS * format.blockSize();
        byte[] bytes = new byte[BLOCKS * format.blockBytes()];
        Arrays.fill(bytes, (byte) 0xa5);
        float[] back = filled(n);
        quantizer(format).quantize(new float[n], 0, MemorySegment.ofArray(bytes), 0, n);
        format.dequantize(MemorySegment.ofArray(bytes), 0, back, 0, n);
        for (float v : back) {
            assertEquals(0f, Math.abs(v));
        }
    }

    @ParameterizedTest
    @MethodSource("formatsThatAreWritten")
    void oldBytesOfTheTargetDoNotShowThrough(QuantFormat format) {
        int n = 16 * format.blockSize();
        float[] values = filled(n);
        Arrays.fill(values, 0, format.blockSize(), 0);
        byte[] first = new byte[16 * format.blockBytes()];
        byte[] second = new byte[first.length];
        Arrays.fill(second, (byte) 0xff);
        quantizer(format).quantize(values, 0, MemorySegment.ofArray(first), 0, n);
        quantizer(format).quantize(values, 0, MemorySegment.ofArray(second), 0, n);
        assertArrayEquals(first, second);
    }

    @ParameterizedTest
    @MethodSource("formatsThatAreWritten")
    void nonFiniteValuesAreRefusedOrKept(QuantFormat format) {
        int n = format.blockSize();
        for (float odd : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            float[] values = filled(n);
            values[n - 1] = odd;
            MemorySegment blocks = MemorySegment.ofArray(new byte[format.blockBytes()]);
            if (List.of("F32", "F16", "BF16").contains(format.id())) {
                quantizer(format).quantize(values, 0, blocks, 0, n);
                float[] back = new float[n];
                format.dequantize(blocks, 0, back, 0, n);
                assertEquals(odd, back[n - 1]);
            } else {
                String text = assertThrows(
                                IllegalArgumentException.class,
                                () -> quantizer(format).quantize(values, 0, blocks, 0, n))
                        .getMessage();
                assertTrue(text.contains("index " + (n - 1)) && text.contains(format.id()), text);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formatsThatAreWritten")
    void extremeFiniteValuesEndWithoutAnException(QuantFormat format) {
        int n = BLOCKS * format.blockSize();
        MemorySegment blocks = MemorySegment.ofArray(new byte[BLOCKS * format.blockBytes()]);
        Random random = new Random(11);
        float[] extremes = {Float.MAX_VALUE, -Float.MAX_VALUE, Float.MIN_VALUE, -Float.MIN_NORMAL, 0f, -0f, 65504f};
        for (int round = 0; round < 50; round++) {
            float[] values = new float[n];
            for (int i = 0; i < n; i++) {
                values[i] = extremes[random.nextInt(round % extremes.length + 1)];
            }
            quantizer(format).quantize(values, 0, blocks, 0, n);
            format.dequantize(blocks, 0, values, 0, n);
        }
    }

    @ParameterizedTest
    @MethodSource("formatsWithoutSearch")
    void decodedValuesSurviveAnotherRound(QuantFormat format) {
        int n = 64 * format.blockSize();
        byte[] first = new byte[64 * format.blockBytes()];
        quantizer(format).quantize(filled(n), 0, MemorySegment.ofArray(first), 0, n);
        float[] once = new float[n];
        format.dequantize(MemorySegment.ofArray(first), 0, once, 0, n);
        byte[] second = new byte[first.length];
        quantizer(format).quantize(once, 0, MemorySegment.ofArray(second), 0, n);
        float[] twice = new float[n];
        format.dequantize(MemorySegment.ofArray(second), 0, twice, 0, n);
        assertArrayEquals(once, twice);
    }

    private static Quantizer quantizer(QuantFormat format) {
        return format.quantizer().orElseThrow();
    }

    private static float[] filled(int n) {
        Random random = new Random(n);
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private static void assertOutOfBounds(QuantFormat format, Runnable call) {
        String text = assertThrows(IndexOutOfBoundsException.class, call::run).getMessage();
        assertTrue(text.startsWith(format.id() + ": "), text);
    }
}
