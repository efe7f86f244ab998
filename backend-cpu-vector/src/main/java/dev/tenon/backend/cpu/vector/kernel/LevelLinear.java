package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/// Frame of the kernels for formats with packed levels: unpack a row into int8 levels and float32 scales,
/// then multiply.
///
/// The two halves meet in memory that the first-level cache holds, not in vectors. So each is a small loop
/// that the JIT
/// compiler handles well by itself, and the second half serves all formats. A row's scales lie from
/// [Panel#SCRATCH] on.
abstract class LevelLinear extends VectorLinear {
    /// How levels become values.
    enum Kind {
        /// `value = scale[i / 16] * level`.
        SCALE_16,
        /// `value = scale[i / 32] * level + offset[i / 32]`, fused; for each 256 elements eight scales,
        /// then eight offsets.
        SCALE_OFFSET_32
    }

    /// Index of the first scale in the thread's floats.
    static final int SCALES = Panel.SCRATCH;

    /// A part of the work on a row that the JIT compiler shall compile by itself.
    ///
    /// Inlined into one method, the parts exceed C2's limit of nodes, and vectors of the part that no
    /// longer fits are
    /// then made on the heap, ten times slower. A call that meets three classes in turn is never inlined.
    private interface Part {
        void run(MemorySegment w, long offset, int n, Scratch scratch, float[] x, int at);
    }

    private final Part[] dot;
    private final Part[] expand;

    /// Creates a kernel.
    ///
    /// @param format format id in lower case
    /// @param kind how levels become values
    LevelLinear(String format, Kind kind) {
        super(format);
        Part scales = (w, offset, n, scratch, x, at) -> scales(w, offset, n, scratch.floats());
        Part levels = (w, offset, n, scratch, x, at) -> levels(w, offset, n, scratch.levels());
        if (kind == Kind.SCALE_16) {
            dot = new Part[] {scales, levels, (w, offset, n, scratch, x, at) -> dotScaled(n, scratch, x, at)};
            expand = new Part[] {scales, levels, (w, offset, n, scratch, x, at) -> expandScaled(n, scratch, at)};
        } else {
            dot = new Part[] {scales, levels, (w, offset, n, scratch, x, at) -> dotOffset(n, scratch, x, at)};
            expand = new Part[] {scales, levels, (w, offset, n, scratch, x, at) -> expandOffset(n, scratch, at)};
        }
    }

    /// Unpacks the scales of a row: `n / 16` numbers from [#SCALES] on.
    ///
    /// @param w the matrix
    /// @param offset where the row starts
    /// @param n elements, whole blocks
    /// @param floats receives scales, or scales and offsets
    abstract void scales(MemorySegment w, long offset, int n, float[] floats);

    /// Unpacks the levels of a row.
    ///
    /// @param w the matrix
    /// @param offset where the row starts
    /// @param n elements, whole blocks
    /// @param levels receives `n` levels
    abstract void levels(MemorySegment w, long offset, int n, byte[] levels);

    @Override
    public final int scratchBytes(int n) {
        // Narrow vectors load more bytes than they use.
        return Math.addExact(n, 16);
    }

    @Override
    final void dot(MemorySegment w, long offset, float[] x, int xOffset, int n, Scratch scratch) {
        for (Part part : dot) {
            part.run(w, offset, n, scratch, x, xOffset);
        }
    }

    @Override
    final void expand(MemorySegment w, long offset, int n, Scratch scratch, int at) {
        for (Part part : expand) {
            part.run(w, offset, n, scratch, scratch.floats(), at);
        }
    }

    private static void dotScaled(int n, Scratch scratch, float[] x, int xOffset) {
        for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
            scaled(scratch.levels(), s, scratch.floats(), x, xOffset, n);
        }
    }

    private static void dotOffset(int n, Scratch scratch, float[] x, int xOffset) {
        for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
            offset(scratch.levels(), s, scratch.floats(), x, xOffset, n);
        }
    }

    private static void expandScaled(int n, Scratch scratch, int at) {
        byte[] levels = scratch.levels();
        float[] floats = scratch.floats();
        for (int i = 0; i < n; i += LANES) {
            FloatVector scale = FloatVector.broadcast(F, floats[SCALES + (i >> 4)]);
            vector(levels, i).mul(scale).intoArray(floats, at + i);
        }
    }

    private static void expandOffset(int n, Scratch scratch, int at) {
        byte[] levels = scratch.levels();
        float[] floats = scratch.floats();
        for (int i = 0; i < n; i += LANES) {
            int group = SCALES + (i >> 8) * 16 + (i >> 5 & 7);
            FloatVector scale = FloatVector.broadcast(F, floats[group]);
            FloatVector shift = FloatVector.broadcast(F, floats[group + 8]);
            vector(levels, i).fma(scale, shift).intoArray(floats, at + i);
        }
    }

    private static FloatVector vector(byte[] levels, int i) {
        return (FloatVector) ByteVector.fromArray(Species.B, levels, i).convertShape(VectorOperators.B2F, F, 0);
    }

    /// Two vectors of strands, from strand `s` on.
    private static void scaled(byte[] levels, int s, float[] floats, float[] x, int xOffset, int n) {
        FloatVector a0 = FloatVector.zero(F);
        FloatVector a1 = a0;
        int y = xOffset + s;
        int g0 = SCALES + (s >> 4);
        int g1 = SCALES + ((s + LANES) >> 4);
        for (int i = 0; i < n; i += Strands.COUNT) {
            FloatVector d0 = FloatVector.broadcast(F, floats[g0 + (i >> 4)]);
            FloatVector d1 = FloatVector.broadcast(F, floats[g1 + (i >> 4)]);
            a0 = vector(levels, s + i).mul(d0).fma(FloatVector.fromArray(F, x, y + i), a0);
            a1 = vector(levels, s + i + LANES).mul(d1).fma(FloatVector.fromArray(F, x, y + i + LANES), a1);
        }
        a0.intoArray(floats, s);
        a1.intoArray(floats, s + LANES);
    }

    /// Two vectors of strands, from strand `s` on.
    private static void offset(byte[] levels, int s, float[] floats, float[] x, int xOffset, int n) {
        FloatVector a0 = FloatVector.zero(F);
        FloatVector a1 = a0;
        int y = xOffset + s;
        for (int i = 0; i < n; i += Strands.COUNT) {
            int group = SCALES + (i >> 8) * 16 + (i >> 5 & 7);
            FloatVector d = FloatVector.broadcast(F, floats[group]);
            FloatVector m = FloatVector.broadcast(F, floats[group + 8]);
            a0 = vector(levels, s + i).fma(d, m).fma(FloatVector.fromArray(F, x, y + i), a0);
            a1 = vector(levels, s + i + LANES).fma(d, m).fma(FloatVector.fromArray(F, x, y + i + LANES), a1);
        }
        a0.intoArray(floats, s);
        a1.intoArray(floats, s + LANES);
    }
}
