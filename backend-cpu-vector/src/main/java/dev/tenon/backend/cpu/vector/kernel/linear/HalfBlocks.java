package dev.tenon.backend.cpu.vector.kernel.linear;

import static dev.tenon.backend.cpu.vector.kernel.linear.LevelLinear.levelsAt;
import static dev.tenon.backend.cpu.vector.kernel.linear.LevelLinear.scalesAt;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/// Unpacks what formats share that keep the four low bits of 32 weights in 16 bytes.
///
/// ```
/// for l in 0..15:   q[l] = qs[l] & 15,   q[l + 16] = qs[l] >> 4
/// ```
///
/// `bytes` is the distance of the groups of 32, `qs` where the first one's 16 bytes are, `zero` the
/// level that stands for 0.
final class HalfBlocks {
    /// Weights of a group.
    static final int GROUP = 32;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(Species.LE);
    /// Which four fifth bits an int of four levels takes.
    private static final IntVector FOURS = IntVector.fromArray(IntVector.SPECIES_128, new int[] {0, 4, 8, 12}, 0);
    /// Times four bits: bit i goes to bit 8 i, among others.
    private static final int SPREAD = 0x00204081;

    private HalfBlocks() {}

    /// Unpacks an F16 scale at the start of each block, for both its groups of 16.
    @ForceInline
    static void scales(RowSpans r, float[] f, int bytes) {
        MemorySegment w = Memory.base(r.weights);
        int n = r.n;
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            for (int i = 0; i < n; i += GROUP, p += bytes) {
                float d = Species.f16(w, p);
                f[scalesAt(s) + i / 16] = d;
                f[scalesAt(s) + i / 16 + 1] = d;
            }
        }
    }

    /// Unpacks an F16 scale at the start of each block and the offset after it.
    @ForceInline
    static void scalesAndOffsets(RowSpans r, float[] f, int bytes) {
        MemorySegment w = Memory.base(r.weights);
        int n = r.n;
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            for (int i = 0; i < n; i += GROUP, p += bytes) {
                f[scalesAt(s) + i / GROUP] = Species.f16(w, p);
                f[scalesAt(s) + i / GROUP + 8] = Species.f16(w, p + Short.BYTES);
            }
        }
    }

    /// Unpacks levels of four bits.
    @ForceInline
    static void levels(RowSpans r, byte[] b, int bytes, int qs, byte zero) {
        MemorySegment w = Memory.base(r.weights);
        int n = r.n;
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s) + qs;
            for (int i = levelsAt(s); i < levelsAt(s) + n; i += GROUP, p += bytes) {
                IntVector q = load(w, p);
                low(q).sub(zero).intoArray(b, i);
                low(Unpacking.right(q, 4)).sub(zero).intoArray(b, i + 16);
            }
        }
    }

    /// Unpacks levels of four bits whose fifth ones are in the int in front of them.
    @ForceInline
    static void fiveBitLevels(RowSpans r, byte[] b, int bytes, int qs, byte zero) {
        MemorySegment w = Memory.base(r.weights);
        int n = r.n;
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s) + qs;
            for (int i = levelsAt(s); i < levelsAt(s) + n; i += GROUP, p += bytes) {
                int fifth = w.get(INT, p - Integer.BYTES);
                IntVector q = load(w, p);
                low(q).or(fifthBits(fifth)).sub(zero).intoArray(b, i);
                low(Unpacking.right(q, 4)).or(fifthBits(fifth >>> 16)).sub(zero).intoArray(b, i + 16);
            }
        }
    }

    /// Unpacks codes of four bits, which stand for the levels of a table.
    @ForceInline
    static void tableLevels(RowSpans r, byte[] b, int bytes, int qs, ByteVector table) {
        MemorySegment w = Memory.base(r.weights);
        int n = r.n;
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s) + qs;
            for (int i = levelsAt(s); i < levelsAt(s) + n; i += GROUP, p += bytes) {
                IntVector q = load(w, p);
                low(q).selectFrom(table).intoArray(b, i);
                low(Unpacking.right(q, 4)).selectFrom(table).intoArray(b, i + 16);
            }
        }
    }

    /// {@return sixteen levels as a table}
    static ByteVector table(int... levels) {
        byte[] bytes = new byte[levels.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) levels[i];
        }
        return ByteVector.fromArray(ByteVector.SPECIES_128, bytes, 0);
    }

    @ForceInline
    private static IntVector load(MemorySegment w, long at) {
        return IntVector.fromMemorySegment(IntVector.SPECIES_128, w, at, Species.LE);
    }

    @ForceInline
    private static ByteVector low(IntVector q) {
        return q.and(Unpacking.LOW_4).reinterpretAsBytes();
    }

    /// {@return the lowest sixteen bits, each as bit 4 of a byte}
    @ForceInline
    private static ByteVector fifthBits(int bits) {
        IntVector fours = IntVector.broadcast(IntVector.SPECIES_128, bits)
                .lanewise(VectorOperators.LSHR, FOURS)
                .and(15);
        return Unpacking.left(fours.mul(SPREAD).and(0x01010101), 4).reinterpretAsBytes();
    }
}
