package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;

/// Q2_K: 256 two-bit levels, sixteen sub-blocks of 16 with a 4-bit scale and a 4-bit minimum each, 2.625 bits
/// a weight.
///
/// ```
/// byte 0                   16              80      82         84
///      | scales: uint8[16] | qs: uint8[64] | d:f16 | dmin:f16 |        s = scales[i / 16]
///
/// value[i] = d * (s & 15) * q[i] - dmin * (s >> 4)
/// for part h of 128, p in 0..3 and l in 0..31:   q[128h + 32p + l] = qs[32h + l] >> 2p & 3
/// ```
public final class Q2_KLinear extends LevelLinear {
    private static final int BLOCK = 256;
    private static final int BYTES = 84;
    private static final int QS = 16;
    private static final int D = 80;
    private static final int DMIN = 82;
    private static final int LOW = 0x03030303;

    public Q2_KLinear() {
        super("q2_k", Kind.SCALE_OFFSET_16, BLOCK, BYTES, (r, b, f) -> scales(r, f), (r, b, f) -> levels(r, b));
    }

    private static void scales(RowSpans r, float[] f) {
        MemorySegment w = Memory.base(r.weights);
        for (int i = 0; i < r.rows; i++) {
            long p = r.at(i);
            int to = scalesAt(i);
            IntVector s = IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p, Species.LE);
            Unpacking.multiply(s.and(Unpacking.LOW_4).reinterpretAsBytes(), Species.f16(w, p + D), f, to);
            ByteVector minimums = Unpacking.right(s, 4).and(Unpacking.LOW_4).reinterpretAsBytes();
            Unpacking.multiply(minimums, -Species.f16(w, p + DMIN), f, to + 16);
        }
    }

    private static void levels(RowSpans r, byte[] b) {
        MemorySegment w = Memory.base(r.weights);
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            for (int h = 0; h < 2; h++) {
                int to = levelsAt(s) + 128 * h;
                quarters(w, p + QS + 32 * h, b, to);
                if (Unpacking.TWICE) {
                    quarters(w, p + QS + 32 * h + 16, b, to + 16);
                }
            }
        }
    }

    @ForceInline
    private static void quarters(MemorySegment w, long qs, byte[] b, int at) {
        IntVector q = Unpacking.load(w, qs);
        for (int c = 0; c < 4; c++) {
            Unpacking.right(q, 2 * c).and(LOW).reinterpretAsBytes().intoArray(b, at + 32 * c);
        }
    }
}
