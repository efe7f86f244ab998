package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.IntVector;

/// Q5_K: 256 five-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each, 5.5 bits
/// a weight.
///
/// ```
/// byte 0       2          4                    16             48              176
///      | d:f16 | dmin:f16 | scales: uint8[12] | qh: uint8[32] | qs: uint8[128] |     scales and minimums:
///      see Unpacking
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32]
/// for quarter c and l in 0..31:   q[64c + l]      = qs[32c + l] & 15 | (qh[l] >> 2c & 1) << 4
///                                 q[64c + l + 32] = qs[32c + l] >> 4 | (qh[l] >> 2c + 1 & 1) << 4
/// ```
public final class Q5_KLinear extends LevelLinear {
    private static final int BLOCK = 256;
    private static final int BYTES = 176;
    private static final int QH = 16;
    private static final int QS = 48;
    private static final int HIGH = 0x10101010;

    public Q5_KLinear() {
        super("q5_k", Kind.SCALE_OFFSET_32, BLOCK, BYTES, (r, b, f) -> scales(r, f), (r, b, f) -> levels(r, b));
    }

    private static void scales(RowSpans r, float[] f) {
        MemorySegment w = Memory.base(r.weights);
        for (int s = 0; s < r.rows; s++) {
            Unpacking.scalesAndOffsets(w, r.at(s), f, scalesAt(s));
        }
    }

    private static void levels(RowSpans r, byte[] b) {
        MemorySegment w = Memory.base(r.weights);
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            quarters(w, p + QH, p + QS, b, levelsAt(s));
            if (Unpacking.TWICE) {
                quarters(w, p + QH + 16, p + QS + 16, b, levelsAt(s) + 16);
            }
        }
    }

    /// The levels that share high bits: two bits a quarter, the lowest ones after each shift.
    @ForceInline
    private static void quarters(MemorySegment w, long qh, long qs, byte[] b, int at) {
        IntVector h = Unpacking.load(w, qh);
        // A loop instead of four calls: the calls, inlined, exceed C2's limit of nodes.
        for (int c = 0; c < 4; c++) {
            IntVector q = Unpacking.load(w, qs + 32 * c);
            store(q, Unpacking.left(h, 4), b, at + 64 * c);
            store(Unpacking.right(q, 4), Unpacking.left(h, 3), b, at + 64 * c + 32);
            h = Unpacking.right(h, 2);
        }
    }

    @ForceInline
    private static void store(IntVector low, IntVector high, byte[] b, int at) {
        low.and(Unpacking.LOW_4).or(high.and(HIGH)).reinterpretAsBytes().intoArray(b, at);
    }
}
