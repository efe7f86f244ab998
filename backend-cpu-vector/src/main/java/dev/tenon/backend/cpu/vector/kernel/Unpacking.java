package dev.tenon.backend.cpu.vector.kernel;

import dev.tenon.api.kernel.cpu.ForceInline;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/// What formats with several levels in a byte share: vectors for unpacking, and the 6-bit scales
/// and minimums of Q4_K and Q5_K.
@ForceInline
public final class Unpacking {
    /// Vectors for unpacking: 32 bytes, or 16 where that is the widest.
    private static final VectorSpecies<Integer> INTS =
            Species.BITS == 128 ? IntVector.SPECIES_128 : IntVector.SPECIES_256;
    /// Whether unpacking 32 bytes takes two vectors.
    public static final boolean TWICE = Species.BITS == 128;
    /// Low four bits of each byte.
    public static final int LOW_4 = 0x0F0F0F0F;

    /// Which words the low bits of four results come from, how far they are shifted, and which bits
    /// count. The words of a block's head are 0: d and dmin, 1 to 3: the packed scales; the results are
    /// scales 0 to 3 and 4 to 7, and minimums 0 to 3 and 4 to 7, a byte each.
    private static final VectorShuffle<Integer> LOW_FROM = VectorShuffle.fromValues(IntVector.SPECIES_128, 1, 3, 2, 3);
    private static final IntVector LOW_SHIFT = words(0, 0, 0, 4);
    private static final IntVector LOW_MASK = words(0x3F3F3F3F, LOW_4, 0x3F3F3F3F, LOW_4);
    /// The same for the two high bits of the second four.
    private static final VectorShuffle<Integer> HIGH_FROM = VectorShuffle.fromValues(IntVector.SPECIES_128, 1, 1, 2, 2);
    private static final IntVector HIGH_SHIFT = words(0, 2, 0, 2);
    private static final IntVector HIGH_MASK = words(0, 0x30303030, 0, 0x30303030);
    /// The upper eight of sixteen lanes.
    private static final VectorMask<Float> UPPER = VectorMask.fromLong(Species.F, 0xFF00);

    private Unpacking() {}

    private static IntVector words(int a, int b, int c, int d) {
        return IntVector.fromArray(IntVector.SPECIES_128, new int[] {a, b, c, d}, 0);
    }

    /// {@return the next bytes, four to an int: processors have no shift of single bytes, and a shift
    /// of ints is as good when a mask follows}
    ///
    /// @param w where they are
    /// @param at offset of the first
    public static IntVector load(MemorySegment w, long at) {
        return IntVector.fromMemorySegment(INTS, w, at, Species.LE);
    }

    /// {@return ints shifted right; bits that cross a byte border are the caller's to mask}
    ///
    /// @param v ints
    /// @param bits how far
    public static IntVector right(IntVector v, int bits) {
        return v.lanewise(VectorOperators.LSHR, bits);
    }

    /// {@return ints shifted left; bits that cross a byte border are the caller's to mask}
    ///
    /// @param v ints
    /// @param bits how far
    public static IntVector left(IntVector v, int bits) {
        return v.lanewise(VectorOperators.LSHL, bits);
    }

    /// Unpacks the head of a Q4_K or Q5_K block: eight of `d * scale`, then eight of `-(dmin * min)`.
    ///
    /// ```
    /// byte 0       2          4                    16
    ///      | d:f16 | dmin:f16 | scales: uint8[12] |
    ///
    /// j < 4:   scale[j] = scales[j] & 63           min[j] = scales[j + 4] & 63
    /// j >= 4:  scale[j] = scales[j + 4] & 15       min[j] = scales[j + 4] >> 4
    ///                   | scales[j - 4] >> 6 << 4         | scales[j] >> 6 << 4
    /// ```
    ///
    /// @param w weights
    /// @param p where the block starts, of at least 16 bytes
    /// @param out receives the sixteen numbers
    /// @param at index of the first
    public static void scalesAndOffsets(MemorySegment w, long p, float[] out, int at) {
        float d = Species.f16(w, p);
        float dmin = -Species.f16(w, p + 2);
        IntVector v = IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p, Species.LE);
        IntVector low =
                v.rearrange(LOW_FROM).lanewise(VectorOperators.LSHR, LOW_SHIFT).and(LOW_MASK);
        IntVector high = v.rearrange(HIGH_FROM)
                .lanewise(VectorOperators.LSHR, HIGH_SHIFT)
                .and(HIGH_MASK);
        ByteVector bytes = low.or(high).reinterpretAsBytes();
        if (Species.LANES == 16) {
            FloatVector factors = FloatVector.broadcast(Species.F, d).blend(dmin, UPPER);
            floats(bytes, 0).mul(factors).intoArray(out, at);
        } else if (Species.LANES == 8) {
            floats(bytes, 0).mul(d).intoArray(out, at);
            floats(bytes, 1).mul(dmin).intoArray(out, at + 8);
        } else {
            floats(bytes, 0).mul(d).intoArray(out, at);
            floats(bytes, 1).mul(d).intoArray(out, at + 4);
            floats(bytes, 2).mul(dmin).intoArray(out, at + 8);
            floats(bytes, 3).mul(dmin).intoArray(out, at + 12);
        }
    }

    /// Multiplies sixteen int8 numbers with a factor.
    ///
    /// @param bytes the numbers
    /// @param factor the factor
    /// @param out receives the products
    /// @param at index of the first
    public static void multiply(ByteVector bytes, float factor, float[] out, int at) {
        floats(bytes, 0).mul(factor).intoArray(out, at);
        if (Species.LANES < 16) {
            floats(bytes, 1).mul(factor).intoArray(out, at + Species.LANES);
        }
        if (Species.LANES < 8) {
            floats(bytes, 2).mul(factor).intoArray(out, at + 8);
            floats(bytes, 3).mul(factor).intoArray(out, at + 12);
        }
    }

    private static FloatVector floats(ByteVector bytes, int part) {
        return (FloatVector) bytes.convertShape(VectorOperators.B2F, Species.F, part);
    }
}
