package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;

/// MXFP4: 32 four-bit floats under a power of two, 4.25 bits a weight.
///
/// ```
/// byte 0          1               17
///      | e: uint8 | qs: uint8[16] |     value[i] = d * T[q[i]], d = 2^(e - 128);  q: see HalfBlocks
///
/// T = 0 1 2 3 4 6 8 12  0 -1 -2 -3 -4 -6 -8 -12
/// ```
public final class MXFP4Linear extends LevelLinear {
    private static final ByteVector TABLE = HalfBlocks.table(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    /// The bits of 2^-128.
    private static final int DENORMAL = 0x00200000;
    private static final int BYTES = 17;

    public MXFP4Linear() {
        super(
                "mxfp4",
                Kind.SCALE_16,
                HalfBlocks.GROUP,
                BYTES,
                (r, b, f) -> scales(r, f),
                (r, b, f) -> HalfBlocks.tableLevels(r, b, BYTES, 1, TABLE));
    }

    private static void scales(RowSpans r, float[] f) {
        MemorySegment w = Memory.base(r.weights);
        int n = r.n;
        for (int s = 0; s < r.rows; s++) {
            long p = r.at(s);
            for (int i = 0; i < n; i += HalfBlocks.GROUP, p += BYTES) {
                int e = w.get(ValueLayout.JAVA_BYTE, p) & 0xFF;
                float d = Float.intBitsToFloat(e < 2 ? DENORMAL << e : e - 1 << 23);
                f[scalesAt(s) + i / 16] = d;
                f[scalesAt(s) + i / 16 + 1] = d;
            }
        }
    }
}
