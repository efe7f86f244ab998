package dev.tenon.backend.cpu.vector.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.IntVector;

/// Q4_K: 256 four-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each, 4.5 bits
/// a weight.
///
/// ```
/// byte 0       2          4                    16              144
///      | d:f16 | dmin:f16 | scales: uint8[12] | qs: uint8[128] |       scales and minima: see Packed
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32]
/// for quarter c and l in 0..31:   q[64c + l] = qs[32c + l] & 15,   q[64c + l + 32] = qs[32c + l] >> 4
/// ```
final class Q4_KLinear extends LevelLinear {
    private static final int BLOCK = 256;
    private static final int BYTES = 144;
    private static final int QS = 16;

    Q4_KLinear() {
        super(
                "q4_k",
                Kind.SCALE_OFFSET_32,
                BLOCK,
                BYTES,
                (w, at, apart, streams, n, b, f, x, xOffset) -> scales(w, at, apart, streams, f),
                (w, at, apart, streams, n, b, f, x, xOffset) -> levels(w, at, apart, streams, b));
    }

    /// The same sum in plain Java, in ascending order and double.
    static float dotRef(MemorySegment w, long offset, float[] x, int xOffset, int n) {
        double sum = 0;
        float[] numbers = new float[16];
        for (int i = 0; i < n; i++) {
            long block = offset + (long) (i / BLOCK) * BYTES;
            int e = i % BLOCK;
            if (e == 0) {
                Packed.scalesAndOffsets(w, block, numbers, 0);
            }
            int q = w.get(ValueLayout.JAVA_BYTE, block + QS + 32 * (e / 64) + e % 32) >> 4 * (e % 64 / 32) & 15;
            sum += (double) (numbers[e / 32] * q + numbers[8 + e / 32]) * x[xOffset + i];
        }
        return (float) sum;
    }

    private static void scales(MemorySegment weights, long at, long apart, int streams, float[] f) {
        MemorySegment w = Memory.base(weights);
        for (int s = 0; s < streams; s++) {
            Packed.scalesAndOffsets(w, at + s * apart, f, scalesAt(s));
        }
    }

    private static void levels(MemorySegment weights, long at, long apart, int streams, byte[] b) {
        MemorySegment w = Memory.base(weights);
        for (int s = 0; s < streams; s++) {
            long p = at + s * apart;
            int to = levelsAt(s);
            for (int c = 0; c < 128; c += 32) {
                nibbles(w, p + QS + c, b, to + 2 * c);
                if (Packed.TWICE) {
                    nibbles(w, p + QS + c + 16, b, to + 2 * c + 16);
                }
            }
        }
    }

    private static void nibbles(MemorySegment w, long qs, byte[] b, int at) {
        IntVector q = Packed.load(w, qs);
        q.and(Packed.LOW_4).reinterpretAsBytes().intoArray(b, at);
        Packed.right(q, 4).and(Packed.LOW_4).reinterpretAsBytes().intoArray(b, at + 32);
    }
}
