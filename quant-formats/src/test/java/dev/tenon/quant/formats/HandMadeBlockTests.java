package dev.tenon.quant.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/// Blocks small enough to work out by hand, and scales that are not numbers.
class HandMadeBlockTests {
    private static final int ONE = 0x3c00;
    private static final int TWO = 0x4000;
    private static final int HALF = 0x3800;
    private static final int NAN = 0x7e00;
    private static final int INFINITY = 0x7c00;

    @Test
    void q8_0IsScaleTimesByte() {
        byte[] block = new byte[34];
        Bits.putU16(block, 0, HALF);
        block[2] = 3;
        block[33] = -128;
        float[] values = decode(new Q8_0Format(), block);
        assertEquals(1.5f, values[0]);
        assertEquals(0f, values[1]);
        assertEquals(-64f, values[31]);
    }

    @Test
    void q4_0KeepsTheSecondHalfInTheHighNibbles() {
        byte[] block = new byte[18];
        Bits.putU16(block, 0, TWO);
        block[2] = (byte) 0xf0;
        float[] values = decode(new Q4_0Format(), block);
        assertEquals(-16f, values[0]);
        assertEquals(14f, values[16]);
    }

    @Test
    void q4_kSubtractsTheScaledMinimum() {
        byte[] block = new byte[144];
        Bits.putU16(block, 0, TWO);
        Bits.putU16(block, 2, HALF);
        int[] scales = {1, 2, 3, 4, 5, 6, 7, 63};
        int[] mins = {0, 1, 2, 3, 4, 5, 62, 63};
        PackedScales.put(scales, mins, block, 4);
        Arrays.fill(block, 16, 144, (byte) 0x5a);
        float[] values = decode(new Q4_KFormat(), block);
        for (int i = 0; i < 256; i++) {
            int s = i / 32;
            int q = s % 2 == 0 ? 10 : 5;
            assertEquals(2f * scales[s] * q - 0.5f * mins[s], values[i], "value " + i);
        }
    }

    @Test
    void packedScalesComeBackWhateverTheyAre() {
        int[] scales = new int[8];
        int[] mins = new int[8];
        for (int first = 0; first < 64; first++) {
            for (int j = 0; j < 8; j++) {
                scales[j] = first + 7 * j & 63;
                mins[j] = first * 5 + 11 * j & 63;
            }
            byte[] bytes = new byte[14];
            PackedScales.put(scales, mins, bytes, 1);
            for (int j = 0; j < 8; j++) {
                assertEquals(scales[j], PackedScales.scales(1).get(bytes, 0, j));
                assertEquals(mins[j], PackedScales.minimums(1).get(bytes, 0, j));
            }
            assertEquals(0, bytes[0]);
            assertEquals(0, bytes[13]);
        }
    }

    @Test
    void aScaleThatIsNotANumberSpoilsItsBlockOnly() {
        for (QuantFormat format : QuantFormats.all()) {
            int at = scaleOffset(format);
            if (at < 0) {
                continue;
            }
            byte[] blocks = new byte[2 * format.blockBytes()];
            Arrays.fill(blocks, (byte) 0x11);
            Bits.putU16(blocks, at, NAN);
            Bits.putU16(blocks, format.blockBytes() + at, ONE);
            float[] values = decode(format, blocks);
            for (int i = 0; i < format.blockSize(); i++) {
                assertTrue(Float.isNaN(values[i]), format.id() + " value " + i);
                assertTrue(Float.isFinite(values[format.blockSize() + i]), format.id() + " second block, value " + i);
            }
        }
    }

    @Test
    void anInfiniteScaleGivesInfinitiesAndNaN() {
        byte[] block = new byte[34];
        Bits.putU16(block, 0, INFINITY);
        block[2] = 1;
        block[3] = -1;
        float[] values = decode(new Q8_0Format(), block);
        assertEquals(Float.POSITIVE_INFINITY, values[0]);
        assertEquals(Float.NEGATIVE_INFINITY, values[1]);
        assertTrue(Float.isNaN(values[2]));
    }

    @Test
    void mxfp4ReachesFromTheSmallestToTheLargestScale() {
        byte[] block = new byte[17];
        block[1] = 0x21;
        assertEquals(0x1p-128f, decode(new MXFP4Format(), block)[0]);
        assertEquals(0x1p-127f, decode(new MXFP4Format(), block)[16]);
        block[0] = (byte) 254;
        assertEquals(0x1p126f, decode(new MXFP4Format(), block)[0]);
    }

    @Test
    void mxfp4OfTinyValuesKeepsTheSmallestScale() {
        float[] values = new float[32];
        values[3] = Float.MIN_VALUE;
        values[4] = 0x1p-126f;
        byte[] block = new byte[17];
        new MXFP4Format().quantizer().orElseThrow().quantize(values, 0, MemorySegment.ofArray(block), 0, 32);
        assertEquals(0, block[0]);
        assertEquals(0x1p-126f, decode(new MXFP4Format(), block)[4]);
    }

    @Test
    void bf16RoundsTiesToEven() {
        assertEquals(1f, roundTrip(new BF16Format(), 0x1.01p0f));
        assertEquals(0x1.04p0f, roundTrip(new BF16Format(), 0x1.03p0f));
        assertEquals(0x1.02p0f, roundTrip(new BF16Format(), 0x1.010002p0f));
        assertEquals(Float.POSITIVE_INFINITY, roundTrip(new BF16Format(), Float.MAX_VALUE));
        assertTrue(Float.isNaN(roundTrip(new BF16Format(), Float.intBitsToFloat(0x7f800001))));
    }

    @Test
    void f16RoundsTiesToEvenAndOverflowsToInfinity() {
        assertEquals(1f, roundTrip(new F16Format(), 0x1.002p0f));
        assertEquals(0x1.008p0f, roundTrip(new F16Format(), 0x1.006p0f));
        assertEquals(65504f, roundTrip(new F16Format(), 65519f));
        assertEquals(Float.POSITIVE_INFINITY, roundTrip(new F16Format(), 65520f));
        assertEquals(0x1p-24f, roundTrip(new F16Format(), 0x1.8p-25f));
    }

    @Test
    void f32KeepsEveryBit() {
        for (int bits : new int[] {0, 0x80000000, 1, 0x7f7fffff, 0x3f800001}) {
            float back = roundTrip(new F32Format(), Float.intBitsToFloat(bits));
            assertEquals(bits, Float.floatToRawIntBits(back));
        }
    }

    @Test
    void q8_0RoundsHalvesAwayFromZero() {
        float[] values = new float[32];
        values[0] = 127;
        values[1] = 0.5f;
        values[2] = -0.5f;
        values[3] = 2.5f;
        values[4] = 0.49999997f;
        byte[] block = new byte[34];
        new Q8_0Format().quantizer().orElseThrow().quantize(values, 0, MemorySegment.ofArray(block), 0, 32);
        assertEquals(1, block[3]);
        assertEquals(-1, block[4]);
        assertEquals(3, block[5]);
        assertEquals(0, block[6]);
    }

    /// Where a block's half is that scales it; -1 if there is none.
    private static int scaleOffset(QuantFormat format) {
        return format.layout()
                .flatMap(BlockLayout::scales)
                .map(scale -> scale.common().orElse(scale.numbers()))
                .filter(numbers ->
                        numbers.type() == Numbers.Type.F16 && numbers.pieces(0).size() == 1)
                .map(numbers -> numbers.pieces(0).getFirst().bit() / Byte.SIZE)
                .orElse(-1);
    }

    private static float[] decode(QuantFormat format, byte[] blocks) {
        float[] values = new float[blocks.length / format.blockBytes() * format.blockSize()];
        format.dequantize(MemorySegment.ofArray(blocks), 0, values, 0, values.length);
        return values;
    }

    private static float roundTrip(QuantFormat format, float value) {
        byte[] block = new byte[format.blockBytes()];
        format.quantizer().orElseThrow().quantize(new float[] {value}, 0, MemorySegment.ofArray(block), 0, 1);
        return decode(format, block)[0];
    }
}
