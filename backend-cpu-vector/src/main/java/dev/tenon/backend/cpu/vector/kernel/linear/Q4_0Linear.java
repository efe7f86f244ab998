package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Unpacking;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.IntVector;

/// Q4_0: 32 four-bit levels and an F16 scale, 4.5 bits a weight.
///
/// ```
/// byte 0       2               18
///      | d:f16 | qs: uint8[16] |        value[i] = d * (q[i] - 8)
///
/// for l in 0..15:   q[l] = qs[l] & 15,   q[l + 16] = qs[l] >> 4
/// ```
public final class Q4_0Linear extends LevelLinear {
    private static final int BLOCK = 32;
    private static final int BYTES = 18;
    private static final int QS = 2;
    private static final byte ZERO_LEVEL = 8;

    public Q4_0Linear() {
        super(
                "q4_0",
                Kind.SCALE_16,
                BLOCK,
                BYTES,
                (w, at, apart, streams, n, b, f, x, xOffset) -> scales(w, at, apart, streams, n, f),
                (w, at, apart, streams, n, b, f, x, xOffset) -> levels(w, at, apart, streams, n, b));
    }

    private static void scales(MemorySegment weights, long at, long apart, int streams, int n, float[] f) {
        MemorySegment w = Memory.base(weights);
        for (int s = 0; s < streams; s++) {
            long p = at + s * apart;
            for (int i = 0; i < n; i += BLOCK, p += BYTES) {
                float d = Species.f16(w, p);
                f[scalesAt(s) + i / 16] = d;
                f[scalesAt(s) + i / 16 + 1] = d;
            }
        }
    }

    private static void levels(MemorySegment weights, long at, long apart, int streams, int n, byte[] b) {
        MemorySegment w = Memory.base(weights);
        for (int s = 0; s < streams; s++) {
            long p = at + s * apart;
            for (int i = levelsAt(s); i < levelsAt(s) + n; i += BLOCK, p += BYTES) {
                IntVector q = IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p + QS, Species.LE);
                store(q, b, i);
                store(Unpacking.right(q, 4), b, i + 16);
            }
        }
    }

    @ForceInline
    private static void store(IntVector q, byte[] b, int at) {
        q.and(Unpacking.LOW_4).reinterpretAsBytes().sub(ZERO_LEVEL).intoArray(b, at);
    }
}
