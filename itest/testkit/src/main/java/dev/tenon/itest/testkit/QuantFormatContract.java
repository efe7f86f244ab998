package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BlockLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/// What every weight format has to do: extend this class, name the format, and run it with JUnit.
///
/// The tests of the encoder are skipped for a format that can only be read.
public abstract class QuantFormatContract {
    private static final byte GUARD = 0x5a;

    /// For subclasses.
    protected QuantFormatContract() {}

    /// {@return the format under test}
    protected abstract QuantFormat format();

    /// Blocks with the values that they decode to, bit for bit.
    ///
    /// @param name where they come from
    /// @param blocks the blocks
    /// @param values their values
    public record Golden(String name, byte[] blocks, float[] values) {}

    /// {@return blocks with known values, from an independent source; none by default}
    protected List<Golden> golden() {
        return List.of();
    }

    /// {@return the largest root mean square error of encoding and decoding normally distributed
    ///     values, relative to theirs; the default is what the format itself says}
    protected double roundTripBound() {
        return format().roundTripBound();
    }

    private Quantizer quantizer() {
        assumeTrue(format().quantizer().isPresent(), () -> format().id() + " has no encoder");
        return format().quantizer().get();
    }

    // --- description

    @Test
    void idTypeAndSizesMakeSense() {
        QuantFormat f = format();
        assertTrue(f.id().matches("[A-Za-z0-9_.+-]+"), "id '" + f.id() + "'");
        double bound = f.roundTripBound();
        assertTrue(bound > 0 && bound <= 1, "roundTripBound " + bound);
        assertTrue(f.ggmlType() >= 0, "ggmlType " + f.ggmlType());
        assertTrue(f.blockSize() >= 1, "blockSize " + f.blockSize());
        assertTrue(f.blockBytes() >= 1, "blockBytes " + f.blockBytes());
        double bits = 8.0 * f.blockBytes() / f.blockSize();
        assertTrue(bits >= 1 && bits <= 64, bits + " bits an element");
    }

    @Test
    void bytesForCountsWholeBlocks() {
        QuantFormat f = format();
        assertEquals(0, f.bytesFor(0));
        assertEquals(f.blockBytes(), f.bytesFor(f.blockSize()));
        assertEquals(1_000_000L * f.blockBytes(), f.bytesFor(1_000_000L * f.blockSize()));
        assertThrows(IllegalArgumentException.class, () -> f.bytesFor(-f.blockSize()));
        if (f.blockSize() > 1) {
            assertThrows(IllegalArgumentException.class, () -> f.bytesFor(1));
            assertThrows(IllegalArgumentException.class, () -> f.bytesFor(f.blockSize() + 1));
        }
        if (f.blockBytes() > f.blockSize()) {
            long most = Long.MAX_VALUE / f.blockSize() * f.blockSize();
            assertThrows(ArithmeticException.class, () -> f.bytesFor(most));
        }
    }

    // --- decoder

    @Test
    void goldenBlocksDecodeBitForBit() {
        assumeTrue(!golden().isEmpty(), () -> format().id() + ": no golden blocks are given");
        for (Golden golden : golden()) {
            float[] got = decode(golden.blocks());
            assertEquals(golden.values().length, got.length, golden.name());
            for (int i = 0; i < got.length; i++) {
                // Compares NaN as NaN and keeps the sign of zero.
                if (Float.floatToIntBits(golden.values()[i]) != Float.floatToIntBits(got[i])) {
                    assertEquals(golden.values()[i], got[i], golden.name() + " element " + i);
                }
            }
        }
    }

    @Test
    void everyBlockOfRandomBytesDecodesAndMostToFiniteValues() {
        Random random = new Random(1);
        byte[] block = new byte[format().blockBytes()];
        int finite = 0;
        for (int i = 0; i < 2000; i++) {
            random.nextBytes(block);
            float[] first = decode(block);
            assertArrayEquals(bits(first), bits(decode(block)), "decoding twice gives different bits");
            finite += allFinite(first) ? 1 : 0;
        }
        assertTrue(finite > 1000, "only " + finite + " of 2000 random blocks decode to finite values");
        for (byte fill : new byte[] {0, -1, 0x7f, (byte) 0x80}) {
            Arrays.fill(block, fill);
            decode(block);
        }
    }

    @Test
    void theLayoutSaysTheSame() {
        BlockLayout layout = format().layout().orElse(null);
        assumeTrue(layout != null, () -> format().id() + " has no layout");
        assertEquals(layout, format().layout().orElse(null), "a layout is always an equal one");
        assertEquals(format().blockSize(), layout.size(), "elements of a block");
        assertEquals(format().blockBytes(), layout.bytes(), "bytes of a block");
        byte[] blocks = randomBlocks(200, 12);
        float[] values = new float[200 * layout.size()];
        layout.decode(MemorySegment.ofArray(blocks), 0, values, 0, values.length);
        assertArrayEquals(bits(decode(blocks)), bits(values), "values by the layout and by the format's own decoder");
    }

    @Test
    void whereTheBlocksStandDoesNotMatter() {
        byte[] blocks = randomBlocks(5, 2);
        int n = 5 * format().blockSize();
        int[] expected = bits(decode(blocks));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment big = arena.allocate(blocks.length + 200, 64);
            for (int offset = 0; offset < 70; offset++) {
                MemorySegment.copy(blocks, 0, big, ValueLayout.JAVA_BYTE, offset, blocks.length);
                float[] target = new float[n + 3];
                format().dequantize(big.asReadOnly(), offset, target, offset % 4, n);
                assertArrayEquals(
                        expected, bits(Arrays.copyOfRange(target, offset % 4, offset % 4 + n)), "at byte " + offset);
            }
        }
    }

    @Test
    void manyBlocksDecodeLikeOneByOne() {
        int count = 300;
        byte[] blocks = randomBlocks(count, 3);
        float[] together = decode(blocks);
        int size = format().blockBytes();
        for (int b = 0; b < count; b++) {
            float[] alone = decode(Arrays.copyOfRange(blocks, b * size, (b + 1) * size));
            int from = b * format().blockSize();
            assertArrayEquals(bits(alone), bits(Arrays.copyOfRange(together, from, from + alone.length)), "block " + b);
        }
    }

    @Test
    void decodingWritesNothingElse() {
        byte[] blocks = randomBlocks(2, 4);
        int n = 2 * format().blockSize();
        float[] target = new float[n + 8];
        Arrays.fill(target, 123.25f);
        format().dequantize(MemorySegment.ofArray(blocks), 0, target, 4, n);
        for (int i = 0; i < 4; i++) {
            assertEquals(123.25f, target[i], "in front of the values");
            assertEquals(123.25f, target[n + 4 + i], "after the values");
        }
        format().dequantize(MemorySegment.ofArray(blocks), 0, target, 0, 0);
        assertEquals(123.25f, target[0], "decoding nothing wrote something");
    }

    @Test
    void decodingChecksItsBounds() {
        QuantFormat f = format();
        MemorySegment source = MemorySegment.ofArray(randomBlocks(2, 5));
        int n = f.blockSize();
        float[] target = new float[2 * n];
        assertThrows(IndexOutOfBoundsException.class, () -> f.dequantize(source, -1, target, 0, n));
        assertThrows(IndexOutOfBoundsException.class, () -> f.dequantize(source, 1, target, 0, 2 * n));
        assertThrows(IndexOutOfBoundsException.class, () -> f.dequantize(source, Long.MAX_VALUE - 1, target, 0, n));
        assertThrows(IndexOutOfBoundsException.class, () -> f.dequantize(source, 0, target, -1, n));
        assertThrows(IndexOutOfBoundsException.class, () -> f.dequantize(source, 0, target, n + 1, n));
        assertThrows(IndexOutOfBoundsException.class, () -> f.dequantize(source, 0, new float[n - 1], 0, n));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> f.dequantize(source.asSlice(0, f.blockBytes() - 1), 0, target, 0, n));
        assertThrows(IllegalArgumentException.class, () -> f.dequantize(source, 0, target, 0, -n));
        if (n > 1) {
            assertThrows(IllegalArgumentException.class, () -> f.dequantize(source, 0, target, 0, n + 1));
            assertThrows(IllegalArgumentException.class, () -> f.dequantize(source, 0, target, 0, 1));
        }
    }

    /// Wherever the scales are: NaN and infinity as float16 and as float32 at every place of a block.
    @Test
    void notANumberAndInfinityStayInTheirBlock() {
        int size = format().blockBytes();
        int elements = format().blockSize();
        byte[] blocks = randomBlocks(3, 12);
        float[] sound = decode(blocks);
        for (int[] pattern : new int[][] {
            {0x00, 0x7e}, {0x00, 0x7c}, {0x00, 0xfc}, {0, 0, 0xc0, 0x7f}, {0, 0, 0x80, 0x7f}, {0, 0, 0x80, 0xff}
        }) {
            for (int at = size; at + pattern.length <= 2 * size; at++) {
                byte[] changed = blocks.clone();
                for (int i = 0; i < pattern.length; i++) {
                    changed[at + i] = (byte) pattern[i];
                }
                float[] got = decode(changed);
                for (int i = 0; i < got.length; i++) {
                    boolean neighbour = i < elements || i >= 2 * elements;
                    if (neighbour && Float.floatToIntBits(sound[i]) != Float.floatToIntBits(got[i])) {
                        fail("bytes " + Arrays.toString(pattern) + " at byte " + (at - size)
                                + " of a block change element " + i + " of another from " + sound[i] + " to "
                                + got[i]);
                    }
                }
            }
        }
    }

    // --- encoder

    @Test
    void aBlockIsEncodedFromItsOwnValues() {
        int n = format().blockSize();
        float[] values = gaussian(3 * n, 1, 13);
        byte[] together = encode(values);
        for (int b = 0; b < 3; b++) {
            byte[] alone = encode(Arrays.copyOfRange(values, b * n, (b + 1) * n));
            int from = b * alone.length;
            assertArrayEquals(alone, Arrays.copyOfRange(together, from, from + alone.length), "block " + b);
        }
    }

    @Test
    void theErrorOfARoundTripStaysInTheBound() {
        for (double size : new double[] {1, 1e-3, 300}) {
            float[] values = gaussian(64 * format().blockSize(), size, 6);
            float[] back = decode(encode(values));
            double error = 0;
            double all = 0;
            for (int i = 0; i < values.length; i++) {
                error += ((double) back[i] - values[i]) * ((double) back[i] - values[i]);
                all += (double) values[i] * values[i];
            }
            double relative = Math.sqrt(error / all);
            assertTrue(
                    relative <= roundTripBound(),
                    format().id() + " at size " + size + ": relative error " + relative + ", bound "
                            + roundTripBound());
        }
    }

    @Test
    void zerosComeBackAsZeros() {
        for (float value : decode(encode(new float[3 * format().blockSize()]))) {
            assertEquals(0f, Math.abs(value), "zero");
        }
    }

    @Test
    void constantsComeBackAboutEqual() {
        for (float constant : new float[] {1, -1, 0.375f, -100, 1e-3f}) {
            float[] values = new float[2 * format().blockSize()];
            Arrays.fill(values, constant);
            for (float value : decode(encode(values))) {
                // An asymmetric grid may miss the constant by half a step, hence more than the mean bound.
                double allowed = Math.max(3 * roundTripBound(), 0.002) * Math.abs(constant);
                assertEquals(constant, value, allowed, "constant " + constant);
            }
        }
    }

    @Test
    void extremeValuesEncodeToBlocksThatDecodeToFiniteValues() {
        int n = format().blockSize();
        List<float[]> cases = new ArrayList<>();
        cases.add(filled(n, i -> i % 2 == 0 ? 30_000f : -30_000f));
        cases.add(filled(n, i -> i == n / 2 ? 10_000f : 0f));
        cases.add(filled(n, i -> i == 0 ? -10_000f : 1e-3f));
        cases.add(filled(n, i -> Float.MIN_VALUE * (i + 1)));
        cases.add(filled(n, i -> i % 3 == 0 ? Float.MIN_NORMAL : -Float.MIN_VALUE));
        cases.add(filled(n, i -> -0f));
        cases.add(filled(n, i -> (i + 1) * 1e-7f));
        for (float[] values : cases) {
            float largest = 0;
            for (float value : values) {
                largest = Math.max(largest, Math.abs(value));
            }
            for (float back : decode(encode(values))) {
                assertTrue(Float.isFinite(back), "not finite for " + Arrays.toString(values));
                assertTrue(
                        Math.abs(back) <= 1.5f * largest + 1e-4f, back + " comes back where the largest is " + largest);
            }
        }
    }

    @Test
    void encodingIsRepeatableAndKeepsItsSource() {
        float[] values = gaussian(4 * format().blockSize(), 1, 7);
        float[] copy = values.clone();
        byte[] first = encode(values);
        assertArrayEquals(copy, values, "the encoder changed its source");
        assertArrayEquals(first, encode(values), "encoding twice gives different bytes");
    }

    @Test
    void encodingWritesItsBlocksAndNothingElse() {
        int n = 3 * format().blockSize();
        float[] values = gaussian(n + 5, 1, 8);
        byte[] expected = encode(Arrays.copyOfRange(values, 5, n + 5));
        byte[] target = new byte[expected.length + 20];
        Arrays.fill(target, GUARD);
        quantizer().quantize(values, 5, MemorySegment.ofArray(target), 7, n);
        assertArrayEquals(expected, Arrays.copyOfRange(target, 7, 7 + expected.length), "blocks");
        for (int i = 0; i < target.length; i++) {
            if (i < 7 || i >= 7 + expected.length) {
                assertEquals(GUARD, target[i], "byte " + i + " lies outside");
            }
        }
    }

    @Test
    void encodingChecksItsBounds() {
        Quantizer q = quantizer();
        int n = format().blockSize();
        float[] values = new float[2 * n];
        MemorySegment target = MemorySegment.ofArray(new byte[2 * format().blockBytes()]);
        assertThrows(IndexOutOfBoundsException.class, () -> q.quantize(values, n + 1, target, 0, n));
        assertThrows(IndexOutOfBoundsException.class, () -> q.quantize(values, -1, target, 0, n));
        assertThrows(IndexOutOfBoundsException.class, () -> q.quantize(values, 0, target, 1, 2 * n));
        assertThrows(IndexOutOfBoundsException.class, () -> q.quantize(values, 0, target, -1, n));
        assertThrows(IllegalArgumentException.class, () -> q.quantize(values, 0, target, 0, -n));
        if (n > 1) {
            assertThrows(IllegalArgumentException.class, () -> q.quantize(values, 0, target, 0, n - 1));
        }
    }

    @Test
    void whatWasDecodedEncodesWithoutMuchFurtherLoss() {
        float[] once = decode(encode(gaussian(32 * format().blockSize(), 1, 9)));
        float[] twice = decode(encode(once));
        double error = 0;
        double all = 0;
        for (int i = 0; i < once.length; i++) {
            error += ((double) twice[i] - once[i]) * ((double) twice[i] - once[i]);
            all += (double) once[i] * once[i];
        }
        assertTrue(Math.sqrt(error / all) <= roundTripBound(), "a second round trip loses " + Math.sqrt(error / all));
    }

    // --- threads

    @Test
    void manyThreadsMayUseItAtOnce() throws Exception {
        byte[] blocks = randomBlocks(50, 10);
        int[] expected = bits(decode(blocks));
        boolean encodes = format().quantizer().isPresent();
        float[] values = gaussian(8 * format().blockSize(), 1, 11);
        byte[] expectedBytes = encodes ? encode(values) : new byte[0];
        try (ExecutorService pool = Executors.newFixedThreadPool(4)) {
            Callable<Boolean> task = () -> {
                for (int i = 0; i < 50; i++) {
                    if (!Arrays.equals(expected, bits(decode(blocks)))
                            || encodes && !Arrays.equals(expectedBytes, encode(values))) {
                        return false;
                    }
                }
                return true;
            };
            for (Future<Boolean> result : pool.invokeAll(List.of(task, task, task, task))) {
                assertTrue(result.get(), "a thread got other values");
            }
        }
    }

    // --- helpers

    private interface ValueAt {
        float at(int i);
    }

    private static float[] filled(int n, ValueAt value) {
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = value.at(i);
        }
        return values;
    }

    private float[] decode(byte[] blocks) {
        int bytes = format().blockBytes();
        assertTrue(blocks.length % bytes == 0, () -> blocks.length + " bytes given, blocks have " + bytes);
        float[] values = new float[blocks.length / format().blockBytes() * format().blockSize()];
        format().dequantize(MemorySegment.ofArray(blocks), 0, values, 0, values.length);
        return values;
    }

    private byte[] encode(float[] values) {
        byte[] blocks = new byte[Math.toIntExact(format().bytesFor(values.length))];
        Arrays.fill(blocks, GUARD);
        quantizer().quantize(values, 0, MemorySegment.ofArray(blocks), 0, values.length);
        return blocks;
    }

    private byte[] randomBlocks(int count, long seed) {
        byte[] blocks = new byte[count * format().blockBytes()];
        new Random(seed).nextBytes(blocks);
        return blocks;
    }

    private static float[] gaussian(int n, double size, long seed) {
        Random random = new Random(seed);
        return filled(n, i -> (float) (size * random.nextGaussian()));
    }

    private static boolean allFinite(float[] values) {
        for (float value : values) {
            if (!Float.isFinite(value)) {
                return false;
            }
        }
        return true;
    }

    /// NaN keeps no payload here, everything else its bits.
    private static int[] bits(float[] values) {
        int[] bits = new int[values.length];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = Float.floatToIntBits(values[i]);
        }
        return bits;
    }
}
