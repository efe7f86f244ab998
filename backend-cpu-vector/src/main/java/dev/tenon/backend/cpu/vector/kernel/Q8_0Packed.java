package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/// Q8_0, as [Q8_0Linear] describes it, with packed activations, for vectors of sixteen floats: the
/// same sums, from aligned memory.
final class Q8_0Packed extends PermutedLinear {
    private static final int BLOCK = 32;
    private static final int BYTES = 34;
    private static final int QS = 2;

    Q8_0Packed() {
        super("Q8_0", BLOCK, BYTES, 0, Q8_0Packed::scales, Q8_0Packed::dot, Q8_0Packed::decode);
    }

    @Override
    public void pack(float[] x, int xOffset, int n, MemorySegment packed) {
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        long even = Memory.at(packed, 0, packedBytes(n));
        long odd = even + n / BLOCK * (long) VECTOR;
        for (int b = 0; b < n / BLOCK; b++) {
            long to = (long) b * VECTOR;
            int at = xOffset + b * BLOCK;
            FloatVector.fromArray(F, x, at).intoMemorySegment(m, even + to, Species.LE);
            FloatVector.fromArray(F, x, at + LANES).intoMemorySegment(m, odd + to, Species.LE);
        }
    }

    /// Nothing: the scale of a block lies in front of its levels.
    private static void scales(MemorySegment weights, long at, int blocks, MemorySegment scratch, long to) {}

    private static void dot(
            MemorySegment weights,
            long at,
            int blocks,
            MemorySegment scratch,
            long strands,
            MemorySegment packed,
            long even,
            long odd,
            long sums) {
        MemorySegment w = Memory.ALL == null ? weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment x = Memory.ALL == null ? packed : Memory.ALL;
        long t = strands & Memory.ADDRESS;
        FloatVector a0 = FloatVector.fromMemorySegment(F, s, t, Species.LE);
        FloatVector a1 = FloatVector.fromMemorySegment(F, s, t + VECTOR, Species.LE);
        long p = at;
        long y = even;
        long z = odd;
        long end = at + (long) blocks * BYTES;
        do {
            p &= Memory.ADDRESS;
            y &= Memory.ADDRESS;
            z &= Memory.ADDRESS;
            FloatVector d = FloatVector.broadcast(F, Species.half(w, p));
            a0 = Species.floats(w, p + QS).mul(d).fma(FloatVector.fromMemorySegment(F, x, y, Species.LE), a0);
            a1 = Species.floats(w, p + QS + LANES).mul(d).fma(FloatVector.fromMemorySegment(F, x, z, Species.LE), a1);
            p += BYTES;
            y += VECTOR;
            z += VECTOR;
        } while (p != end);
        a0.intoMemorySegment(s, t, Species.LE);
        a1.intoMemorySegment(s, t + VECTOR, Species.LE);
    }

    private static void decode(
            MemorySegment weights,
            long at,
            int blocks,
            MemorySegment scratch,
            long scales,
            long even,
            long odd,
            long apart,
            long part) {
        MemorySegment w = Memory.ALL == null ? weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = at;
        long y = even;
        long z = odd;
        long end = at + (long) blocks * BYTES;
        do {
            p &= Memory.ADDRESS;
            y &= Memory.ADDRESS;
            z &= Memory.ADDRESS;
            FloatVector d = FloatVector.broadcast(F, Species.half(w, p));
            Species.floats(w, p + QS).mul(d).intoMemorySegment(s, y, Species.LE);
            Species.floats(w, p + QS + LANES).mul(d).intoMemorySegment(s, z, Species.LE);
            p += BYTES;
            y += apart;
            z += apart;
        } while (p != end);
    }
}
