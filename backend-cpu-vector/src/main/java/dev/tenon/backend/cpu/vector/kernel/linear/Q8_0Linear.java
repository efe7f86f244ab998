package dev.tenon.backend.cpu.vector.kernel.linear;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/// Q8_0: 32 int8 levels and an F16 scale, 8.5 bits a weight.
///
/// ```
/// byte 0       2                          34
///      | d:f16 | qs: int8[32]             |        value[i] = d * qs[i]
/// ```
public final class Q8_0Linear extends VectorLinear {
    private static final int BLOCK = 32;
    private static final int BYTES = 34;
    private static final int QS = 2;

    public Q8_0Linear() {
        super("q8_0");
    }

    @Override
    long spanBytes(int elements) {
        return (long) elements / BLOCK * BYTES;
    }

    @Override
    void add(RowSpans r, Scratch scratch) {
        for (int s = 0; s < r.rows; s++) {
            add(Memory.base(r.weights), r.at(s), r.x, r.xOffset, r.n, scratch.floats(), s * Strands.COUNT);
        }
    }

    private static void add(MemorySegment w, long at, float[] x, int xOffset, int n, float[] sums, int strands) {
        if (LANES < 8) {
            narrow(w, at, x, xOffset, n, sums, strands);
            return;
        }
        FloatVector a0 = FloatVector.fromArray(F, sums, strands);
        FloatVector a1 = FloatVector.fromArray(F, sums, strands + LANES);
        FloatVector a2 = LANES == 8 ? FloatVector.fromArray(F, sums, strands + 16) : a0;
        FloatVector a3 = LANES == 8 ? FloatVector.fromArray(F, sums, strands + 24) : a0;
        long p = at;
        for (int i = xOffset; i < xOffset + n; i += BLOCK, p += BYTES) {
            FloatVector d = FloatVector.broadcast(F, Species.f16(w, p));
            a0 = Species.floats(w, p + QS).mul(d).fma(FloatVector.fromArray(F, x, i), a0);
            a1 = Species.floats(w, p + QS + LANES).mul(d).fma(FloatVector.fromArray(F, x, i + LANES), a1);
            if (LANES == 8) {
                a2 = Species.floats(w, p + QS + 16).mul(d).fma(FloatVector.fromArray(F, x, i + 16), a2);
                a3 = Species.floats(w, p + QS + 24).mul(d).fma(FloatVector.fromArray(F, x, i + 24), a3);
            }
        }
        a0.intoArray(sums, strands);
        a1.intoArray(sums, strands + LANES);
        if (LANES == 8) {
            a2.intoArray(sums, strands + 16);
            a3.intoArray(sums, strands + 24);
        }
    }

    /// Two vectors of strands at a time, for few and short registers.
    private static void narrow(MemorySegment w, long at, float[] x, int xOffset, int n, float[] sums, int strands) {
        for (int s = 0; s < BLOCK; s += 2 * LANES) {
            FloatVector a0 = FloatVector.fromArray(F, sums, strands + s);
            FloatVector a1 = FloatVector.fromArray(F, sums, strands + s + LANES);
            long p = at;
            for (int i = xOffset + s; i < xOffset + n; i += BLOCK, p += BYTES) {
                FloatVector d = FloatVector.broadcast(F, Species.f16(w, p));
                a0 = Species.floats(w, p + QS + s).mul(d).fma(FloatVector.fromArray(F, x, i), a0);
                a1 = Species.floats(w, p + QS + s + LANES).mul(d).fma(FloatVector.fromArray(F, x, i + LANES), a1);
            }
            a0.intoArray(sums, strands + s);
            a1.intoArray(sums, strands + s + LANES);
        }
    }

    @Override
    void expand(MemorySegment w, long offset, int n, Scratch scratch, int at) {
        float[] out = scratch.floats();
        long p = offset;
        for (int i = at; i < at + n; i += BLOCK, p += BYTES) {
            FloatVector d = FloatVector.broadcast(F, Species.f16(w, p));
            for (int j = 0; j < BLOCK; j += LANES) {
                Species.floats(w, p + QS + j).mul(d).intoArray(out, i + j);
            }
        }
    }
}
