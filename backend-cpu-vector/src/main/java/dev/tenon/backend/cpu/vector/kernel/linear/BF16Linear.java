package dev.tenon.backend.cpu.vector.kernel.linear;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/// BF16: the upper 16 bits of a float32.
///
/// ```
/// byte 2i       2i + 2
///      | w:bf16 |            value[i] = float32 with the bits w << 16
/// ```
public final class BF16Linear extends VectorLinear {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(Species.LE);

    public BF16Linear() {
        super("bf16");
    }

    @ForceInline
    private static float value(MemorySegment w, long offset) {
        return Float.intBitsToFloat(w.get(SHORT, offset) << 16);
    }

    @ForceInline
    private static FloatVector values(MemorySegment w, long offset) {
        IntVector bits = (IntVector) Species.shorts(w, offset).convertShape(VectorOperators.S2I, Species.I, 0);
        return bits.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
    }

    @Override
    long spanBytes(int elements) {
        return 2L * elements;
    }

    @Override
    void add(RowSpans r, Scratch scratch) {
        for (int s = 0; s < r.rows; s++) {
            add(Memory.base(r.weights), r.at(s), r.x, r.xOffset, r.n, scratch.floats(), s * Strands.COUNT);
        }
    }

    private static void add(MemorySegment w, long offset, float[] x, int xOffset, int n, float[] strands, int at) {
        int whole = n - n % Strands.COUNT;
        for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
            FloatVector a0 = FloatVector.fromArray(F, strands, at + s);
            FloatVector a1 = FloatVector.fromArray(F, strands, at + s + LANES);
            for (int i = s; i < whole; i += Strands.COUNT) {
                a0 = values(w, offset + 2L * i).fma(FloatVector.fromArray(F, x, xOffset + i), a0);
                a1 = values(w, offset + 2L * (i + LANES)).fma(FloatVector.fromArray(F, x, xOffset + i + LANES), a1);
            }
            a0.intoArray(strands, at + s);
            a1.intoArray(strands, at + s + LANES);
        }
        for (int i = whole; i < n; i++) {
            int strand = at + i - whole;
            strands[strand] = Math.fma(value(w, offset + 2L * i), x[xOffset + i], strands[strand]);
        }
    }

    @Override
    void expand(MemorySegment w, long offset, int n, Scratch scratch, int at) {
        float[] out = scratch.floats();
        int i = 0;
        for (; i + LANES <= n; i += LANES) {
            values(w, offset + 2L * i).intoArray(out, at + i);
        }
        for (; i < n; i++) {
            out[at + i] = value(w, offset + 2L * i);
        }
    }
}
