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

/// F32: float32, little-endian.
///
/// ```
/// byte 4i      4i + 4
///      | w:f32 |             value[i] = w
/// ```
public final class F32Linear extends VectorLinear {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(Species.LE);

    public F32Linear() {
        super("f32");
    }

    @Override
    long spanBytes(int elements) {
        return 4L * elements;
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
                a0 = load(w, offset + 4L * i).fma(FloatVector.fromArray(F, x, xOffset + i), a0);
                a1 = load(w, offset + 4L * (i + LANES)).fma(FloatVector.fromArray(F, x, xOffset + i + LANES), a1);
            }
            a0.intoArray(strands, at + s);
            a1.intoArray(strands, at + s + LANES);
        }
        for (int i = whole; i < n; i++) {
            int strand = at + i - whole;
            strands[strand] = Math.fma(w.get(FLOAT, offset + 4L * i), x[xOffset + i], strands[strand]);
        }
    }

    @ForceInline
    private static FloatVector load(MemorySegment w, long offset) {
        return FloatVector.fromMemorySegment(F, w, offset, Species.LE);
    }

    @Override
    void expand(MemorySegment w, long offset, int n, Scratch scratch, int at) {
        MemorySegment.copy(w, FLOAT, offset, scratch.floats(), at, n);
    }
}
