package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/// IQ4_XS: 256 four-bit indices into the table of [IQ4_NLLinear], eight sub-blocks of 32 with a 6-bit
/// scale each, 4.25 bits a weight.
///
/// ```
/// byte 0       2                  4                   8                            136
///      | d:f16 | scales_h: uint16 | scales_l: uint32  | qs: uint8[8][16]           |
///
/// value[i] = d * (scale[i / 32] - 32) * T[q[i]];  q: see HalfBlocks
/// scale[s] = (scales_l >> 4s & 15) | (scales_h >> 2s & 3) << 4
/// ```
public final class IQ4_XSLinear extends LevelLinear {
    private static final int BLOCK = 256;
    private static final int SCALES_L = 4;
    private static final int QS = 8;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(Species.LE);
    private static final IntVector LOW_SHIFT = IntVector.fromArray(IntVector.SPECIES_128, new int[] {0, 0, 4, 4}, 0);
    private static final IntVector HIGH_SHIFT = IntVector.fromArray(IntVector.SPECIES_128, new int[] {0, 0, 2, 2}, 0);
    private static final int BYTES = 136;

    public IQ4_XSLinear() {
        super(
                "iq4_xs",
                Kind.SCALE_16,
                BLOCK,
                BYTES,
                (r, b, f) -> scales(r, f),
                (r, b, f) -> HalfBlocks.tableLevels(r, b, 16, QS, IQ4_NLLinear.TABLE));
    }

    /// Two scales at a time, each for both its groups of 16.
    private static void scales(RowSpans r, float[] f) {
        MemorySegment w = Memory.base(r.weights);
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            float d = Species.f16(w, p);
            int high = w.get(INT, p) >>> 16;
            int low = w.get(INT, p + SCALES_L);
            for (int i = 0; i < 16; i += 4) {
                IntVector l = IntVector.broadcast(IntVector.SPECIES_128, low >>> 2 * i)
                        .lanewise(VectorOperators.LSHR, LOW_SHIFT)
                        .and(15);
                IntVector h = IntVector.broadcast(IntVector.SPECIES_128, high >>> i)
                        .lanewise(VectorOperators.LSHR, HIGH_SHIFT)
                        .and(3);
                IntVector scale = Unpacking.left(h, 4).or(l).sub(32);
                ((FloatVector) scale.convert(VectorOperators.I2F, 0)).mul(d).intoArray(f, scalesAt(s) + i);
            }
        }
    }
}
