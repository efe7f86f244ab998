package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/// Q6_K: 256 six-bit levels, sixteen sub-blocks of 16 with an int8 scale each, 6.5625 bits a weight.
///
/// ```
/// byte 0              128           192                208     210
///      | ql: uint8[128] | qh: uint8[64] | scales: int8[16] | d:f16 |
///
/// value[i] = d * scales[i / 16] * (q[i] - 32)
/// for half h and l in 0..31:   q[128h + l]      = ql[64h + l] & 15       | (qh[32h + l]      & 3) << 4
///                              q[128h + l + 32] = ql[64h + l + 32] & 15  | (qh[32h + l] >> 2 & 3) << 4
///                              q[128h + l + 64] = ql[64h + l] >> 4       | (qh[32h + l] >> 4 & 3) << 4
///                              q[128h + l + 96] = ql[64h + l + 32] >> 4  | (qh[32h + l] >> 6)     << 4
/// ```
final class Q6_KLinear extends LevelLinear {
    private static final int BLOCK = 256;
    private static final int BYTES = 210;
    private static final int QH = 128;
    private static final int SUB_SCALES = 192;
    private static final int D = 208;
    private static final int HIGH = 0x30303030;
    private static final byte ZERO_LEVEL = 32;

    /// 32 bytes twice, and how far the bits of their second copy are shifted.
    private static final VectorShuffle<Integer> TWICE = VectorShuffle.fromOp(Species.I, i -> i % 8);
    private static final IntVector SHIFT = IntVector.zero(Species.I)
            .addIndex(1)
            .lanewise(VectorOperators.LSHR, 3)
            .mul(2);

    Q6_KLinear() {
        super(
                "q6_k",
                Kind.SCALE_16,
                BLOCK,
                BYTES,
                (w, at, apart, streams, n, b, f, x, xOffset) -> scales(w, at, apart, streams, f),
                (w, at, apart, streams, n, b, f, x, xOffset) -> levels(w, at, apart, streams, b));
    }

    /// The same sum in plain Java, in ascending order and double.
    static float dotRef(MemorySegment w, long offset, float[] x, int xOffset, int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            long block = offset + (long) (i / BLOCK) * BYTES;
            int half = i % BLOCK / 128;
            int l = i % 32;
            int quarter = i % 128 / 32;
            int low = w.get(ValueLayout.JAVA_BYTE, block + 64 * half + 32 * (quarter & 1) + l) >> 4 * (quarter >> 1);
            int high = w.get(ValueLayout.JAVA_BYTE, block + QH + 32 * half + l) >> 2 * quarter;
            int q = (low & 15 | (high & 3) << 4) - ZERO_LEVEL;
            float scale =
                    Species.half(w, block + D) * w.get(ValueLayout.JAVA_BYTE, block + SUB_SCALES + i % BLOCK / 16);
            sum += (double) (scale * q) * x[xOffset + i];
        }
        return (float) sum;
    }

    private static void scales(MemorySegment weights, long at, long apart, int streams, float[] f) {
        MemorySegment w = Memory.base(weights);
        for (int s = 0; s < streams; s++) {
            long p = at + s * apart;
            FloatVector d = FloatVector.broadcast(F, Species.half(w, p + D));
            for (int j = 0; j < 16; j += LANES) {
                Species.floats(w, p + SUB_SCALES + j).mul(d).intoArray(f, scalesAt(s) + j);
            }
        }
    }

    private static void levels(MemorySegment weights, long at, long apart, int streams, byte[] b) {
        MemorySegment w = Memory.base(weights);
        for (int s = 0; s < streams; s++) {
            long p = at + s * apart;
            for (int h = 0; h < 2; h++) {
                int to = levelsAt(s) + 128 * h;
                if (LANES == 16) {
                    halves(w, p + 64 * h, p + QH + 32 * h, b, to);
                    continue;
                }
                quarters(w, p + 64 * h, p + QH + 32 * h, b, to);
                if (Packed.TWICE) {
                    quarters(w, p + 64 * h + 16, p + QH + 32 * h + 16, b, to + 16);
                }
            }
        }
    }

    /// 128 levels, 64 at a time.
    private static void halves(MemorySegment w, long ql, long qh, byte[] b, int at) {
        IntVector low = IntVector.fromMemorySegment(Species.I, w, ql, Species.LE);
        IntVector high = ((IntVector) Packed.load(w, qh).reinterpretShape(Species.I, 0))
                .rearrange(TWICE)
                .lanewise(VectorOperators.LSHR, SHIFT);
        store(low, Packed.left(high, 4), b, at);
        store(Packed.right(low, 4), high, b, at + 64);
    }

    /// The levels that share high bits.
    private static void quarters(MemorySegment w, long ql, long qh, byte[] b, int at) {
        IntVector l0 = Packed.load(w, ql);
        IntVector l1 = Packed.load(w, ql + 32);
        IntVector h = Packed.load(w, qh);
        store(l0, Packed.left(h, 4), b, at);
        store(l1, Packed.left(h, 2), b, at + 32);
        store(Packed.right(l0, 4), h, b, at + 64);
        store(Packed.right(l1, 4), Packed.right(h, 2), b, at + 96);
    }

    private static void store(IntVector low, IntVector high, byte[] b, int at) {
        IntVector q = low.and(Packed.LOW_4).or(high.and(HIGH));
        q.reinterpretAsBytes().sub(ZERO_LEVEL).intoArray(b, at);
    }
}
