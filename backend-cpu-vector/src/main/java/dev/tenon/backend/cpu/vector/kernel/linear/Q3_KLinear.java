package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/// Q3_K: 256 three-bit levels, sixteen sub-blocks of 16 with a 6-bit scale each, 3.4375 bits a weight.
///
/// ```
/// byte 0                  32              96                  108     110
///      | hmask: uint8[32] | qs: uint8[64] | scales: uint8[12] | d:f16 |
///
/// value[i] = d * (scale[i / 16] - 32) * (q[i] - 4)
/// for part h of 128, p in 0..3 and l in 0..31:
///   q[128h + 32p + l] = qs[32h + l] >> 2p & 3 | (hmask[l] >> 4h + p & 1) << 2
/// scale[j] = j < 8 ? scales[j] & 15 : scales[j - 8] >> 4,  and above it  scales[8 + j % 4] >> 2 * (j / 4) & 3
/// ```
public final class Q3_KLinear extends LevelLinear {
    private static final int BLOCK = 256;
    private static final int BYTES = 110;
    private static final int QS = 32;
    private static final int SUB_SCALES = 96;
    private static final int D = 108;
    private static final byte ZERO_LEVEL = 4;
    private static final byte ZERO_SCALE = 32;
    private static final int LOW = 0x03030303;
    private static final int HIGH = 0x04040404;

    /// Moves the packed scales to the front of the last sixteen bytes of a block: a load that begins with them would
    /// end after the block.
    private static final VectorShuffle<Byte> LAST_SCALES =
            VectorShuffle.fromOp(ByteVector.SPECIES_128, i -> (i + SUB_SCALES - (BYTES - 16)) % 16);
    /// Which words of the packed scales hold the low and the high bits of four scales each, and how far
    /// those are shifted.
    private static final VectorShuffle<Integer> LOW_FROM = VectorShuffle.fromValues(IntVector.SPECIES_128, 0, 1, 0, 1);
    private static final IntVector LOW_SHIFT = IntVector.fromArray(IntVector.SPECIES_128, new int[] {0, 0, 4, 4}, 0);
    private static final VectorShuffle<Integer> HIGH_FROM = VectorShuffle.fromValues(IntVector.SPECIES_128, 2, 2, 2, 2);
    private static final IntVector HIGH_SHIFT = IntVector.fromArray(IntVector.SPECIES_128, new int[] {0, 2, 4, 6}, 0);

    public Q3_KLinear() {
        super("q3_k", Kind.SCALE_16, BLOCK, BYTES, (r, b, f) -> scales(r, f), (r, b, f) -> levels(r, b));
    }

    private static void scales(RowSpans r, float[] f) {
        MemorySegment w = Memory.base(r.weights);
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            IntVector v = ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + BYTES - 16, Species.LE)
                    .rearrange(LAST_SCALES)
                    .reinterpretAsInts();
            IntVector low = v.rearrange(LOW_FROM)
                    .lanewise(VectorOperators.LSHR, LOW_SHIFT)
                    .and(Unpacking.LOW_4);
            IntVector high = v.rearrange(HIGH_FROM)
                    .lanewise(VectorOperators.LSHR, HIGH_SHIFT)
                    .and(LOW);
            ByteVector scale =
                    low.or(Unpacking.left(high, 4)).reinterpretAsBytes().sub(ZERO_SCALE);
            Unpacking.multiply(scale, Species.f16(w, p + D), f, scalesAt(s));
        }
    }

    private static void levels(RowSpans r, byte[] b) {
        MemorySegment w = Memory.base(r.weights);
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            eighths(w, p, p + QS, b, levelsAt(s));
            if (Unpacking.TWICE) {
                eighths(w, p + 16, p + QS + 16, b, levelsAt(s) + 16);
            }
        }
    }

    /// The levels that share high bits: one bit an eighth, the lowest one after each shift.
    @ForceInline
    private static void eighths(MemorySegment w, long hmask, long qs, byte[] b, int at) {
        IntVector h = Unpacking.load(w, hmask);
        // A loop instead of eight calls: the calls, inlined, exceed C2's limit of nodes.
        for (int part = 0; part < 2; part++) {
            IntVector q = Unpacking.load(w, qs + 32 * part);
            for (int c = 0; c < 4; c++) {
                IntVector level = q.and(LOW).or(Unpacking.left(h, 2).and(HIGH));
                level.reinterpretAsBytes().sub(ZERO_LEVEL).intoArray(b, at + 128 * part + 32 * c);
                q = Unpacking.right(q, 2);
                h = Unpacking.right(h, 1);
            }
        }
    }
}
