package dev.tenon.backend.cpu.vector.kernel;

import dev.tenon.api.kernel.cpu.ForceInline;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/// The vector shapes of all kernels, selected once for the process by [VectorWidth].
///
/// Everything is `static final`, so that the JIT compiler sees constants and drops the branches for other
/// widths.
@ForceInline
public final class Species {
    /// Bits of a vector.
    public static final int BITS = VectorWidth.bits();
    /// Floats in a vector.
    public static final int LANES = BITS / Float.SIZE;
    /// Vectors of [#LANES] floats.
    public static final VectorSpecies<Float> F =
            BITS == 512 ? FloatVector.SPECIES_512 : BITS == 256 ? FloatVector.SPECIES_256 : FloatVector.SPECIES_128;
    /// Vectors of [#LANES] ints.
    public static final VectorSpecies<Integer> I =
            BITS == 512 ? IntVector.SPECIES_512 : BITS == 256 ? IntVector.SPECIES_256 : IntVector.SPECIES_128;
    /// Byte vectors of [#LANES] bytes; 128 bits have no smaller relative, there 16 bytes of which 4 are
    /// used.
    public static final VectorSpecies<Byte> B = BITS == 256 ? ByteVector.SPECIES_64 : ByteVector.SPECIES_128;
    /// Vectors of [#LANES] shorts.
    static final VectorSpecies<Short> S =
            BITS == 512 ? ShortVector.SPECIES_256 : BITS == 256 ? ShortVector.SPECIES_128 : ShortVector.SPECIES_64;
    /// Byte order of files, and of all machines that this runs on.
    public static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LE);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(LE);

    private Species() {}

    /// {@return the next [#LANES] bytes as signed numbers}
    ///
    /// @param bytes where they are, read no further than the last of them
    /// @param offset of the first
    public static FloatVector floats(MemorySegment bytes, long offset) {
        return (FloatVector) bytes(bytes, offset).convertShape(VectorOperators.B2F, F, 0);
    }

    /// {@return a byte vector that begins with the next [#LANES] bytes}
    ///
    /// @param bytes where they are, read no further than the last of them
    /// @param offset of the first
    static ByteVector bytes(MemorySegment bytes, long offset) {
        return BITS == 128
                ? IntVector.broadcast(IntVector.SPECIES_128, bytes.get(INT, offset))
                        .reinterpretAsBytes()
                : ByteVector.fromMemorySegment(B, bytes, offset, LE);
    }

    /// {@return the next [#LANES] bytes as signed numbers}
    ///
    /// @param bytes where they are; at 128 bits, twelve more are read
    /// @param at index of the first
    public static FloatVector floats(byte[] bytes, int at) {
        return (FloatVector) ByteVector.fromArray(B, bytes, at).convertShape(VectorOperators.B2F, F, 0);
    }

    /// {@return the next [#LANES] shorts}
    ///
    /// @param bytes where they are
    /// @param offset of the first
    public static ShortVector shorts(MemorySegment bytes, long offset) {
        return ShortVector.fromMemorySegment(S, bytes, offset, LE);
    }

    /// {@return an F16 number}
    ///
    /// @param bytes where it is
    /// @param offset of its first byte
    public static float f16(MemorySegment bytes, long offset) {
        return Float.float16ToFloat(bytes.get(SHORT, offset));
    }

    /// {@return an F16 number}
    ///
    /// @param bytes where it is
    /// @param at index of its first byte
    public static float f16(byte[] bytes, int at) {
        return Float.float16ToFloat((short) (bytes[at] & 0xFF | bytes[at + 1] << 8));
    }
}
