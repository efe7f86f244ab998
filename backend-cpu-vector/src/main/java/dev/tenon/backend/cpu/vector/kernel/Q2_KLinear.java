package dev.tenon.backend.cpu.vector.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
/// for half h, p in 0..3 and l in 0..31:   q[128h + 32p + l] = qs[32h + l] >> 2p & 3
/// ```
final class Q2_KLinear extends LevelLinear {
    private static final int BLOCK = 256;
    private static final int BYTES = 84;
    private static final int QS = 16;
    private static final int D = 80;
    private static final int DMIN = 82;
    private static final int LOW = 0x03030303;

    Q2_KLinear() {
        super(
                "q2_k",
                Kind.SCALE_OFFSET_16,
                BLOCK,
                BYTES,
                (b, row, n, floats, x, at) -> scales(b, row, n, floats),
                (b, row, n, floats, x, at) -> levels(b, row, n));
    }

    /// The same sum in plain Java, in ascending order and double.
    static float dotRef(MemorySegment w, long offset, float[] x, int xOffset, int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            long block = offset + (long) (i / BLOCK) * BYTES;
            int e = i % BLOCK;
            int s = w.get(ValueLayout.JAVA_BYTE, block + e / 16);
            int q = w.get(ValueLayout.JAVA_BYTE, block + QS + 32 * (e / 128) + e % 32) >> 2 * (e % 128 / 32) & 3;
            float scale = Species.half(w, block + D) * (s & 15);
            sum += (double) (scale * q - Species.half(w, block + DMIN) * (s >> 4 & 15)) * x[xOffset + i];
        }
        return (float) sum;
    }

    private static void scales(byte[] b, int row, int n, float[] floats) {
        int p = row;
        for (int i = 0; i < n; i += BLOCK, p += BYTES) {
            IntVector s = ByteVector.fromArray(ByteVector.SPECIES_128, b, p).reinterpretAsInts();
            int at = SCALES + i / 8;
            Packed.multiply(s.and(Packed.LOW_4).reinterpretAsBytes(), Species.half(b, p + D), floats, at);
            ByteVector minima = Packed.right(s, 4).and(Packed.LOW_4).reinterpretAsBytes();
            Packed.multiply(minima, -Species.half(b, p + DMIN), floats, at + 16);
        }
    }

    private static void levels(byte[] b, int row, int n) {
        int p = row;
        for (int i = 0; i < n; i += BLOCK, p += BYTES) {
            for (int h = 0; h < 2; h++) {
                quarters(b, p + QS + 32 * h, i + 128 * h);
                if (Packed.TWICE) {
                    quarters(b, p + QS + 32 * h + 16, i + 128 * h + 16);
                }
            }
        }
    }

    private static void quarters(byte[] b, int qs, int at) {
        IntVector q = Packed.load(b, qs);
        for (int c = 0; c < 4; c++) {
            Packed.right(q, 2 * c).and(LOW).reinterpretAsBytes().intoArray(b, at + 32 * c);
        }
    }
}
