package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;

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
        SCALE_OFFSET_32,
        /// `value = scale[i / 16] * level + offset[i / 16]`, fused; for each 256 elements sixteen scales,
        /// then sixteen offsets.
        SCALE_OFFSET_16
    }

    /// Index of the first scale in the thread's floats.
    static final int SCALES = Panel.SCRATCH;
    /// Bytes behind levels and behind a row that narrow vectors load and do not use.
    private static final int PADDING = 16;

    /// A part of the work on a row that the JIT compiler shall compile by itself.
    ///
    /// Inlined into one method, the parts exceed C2's limit of nodes, and vectors of the part that no
    /// longer fits are
    /// then made on the heap, ten times slower. A call that meets three classes in turn is never inlined.
    interface Part {
        /// Does its part.
        ///
        /// @param b levels from index 0 on, and the row
        /// @param row index of the row's first byte
        /// @param n elements, whole blocks
        /// @param floats strands, and from [#SCALES] on at most `n / 8` scales and offsets
        /// @param x activations, or the memory for decoded values
        /// @param at index of the first of those
        void run(byte[] b, int row, int n, float[] floats, float[] x, int at);
    }

    private final int block;
    private final int blockBytes;
    private final Part[] dot;
    private final Part[] expand;

    /// Creates a kernel.
    ///
    /// @param format format id in lower case
    /// @param kind how levels become values
    /// @param block elements in a block
    /// @param blockBytes bytes of a block
    /// @param scales unpacks a row's scales; a class of its own for each format, since two formats behind one
    /// call would be inlined into one method, which then exceeds the limit
    /// @param levels unpacks a row's levels; the same holds
    LevelLinear(String format, Kind kind, int block, int blockBytes, Part scales, Part levels) {
        super(format);
        this.block = block;
        this.blockBytes = blockBytes;
        dot = new Part[] {
            scales,
            levels,
            switch (kind) {
                case SCALE_16 -> (b, row, n, floats, x, at) -> dotScaled(b, n, floats, x, at);
                case SCALE_OFFSET_32 -> (b, row, n, floats, x, at) -> dotOffset32(b, n, floats, x, at);
                case SCALE_OFFSET_16 -> (b, row, n, floats, x, at) -> dotOffset16(b, n, floats, x, at);
            }
        };
        expand = new Part[] {
            scales,
            levels,
            switch (kind) {
                case SCALE_16 -> (b, row, n, floats, x, at) -> expandScaled(b, n, floats, at);
                case SCALE_OFFSET_32 -> (b, row, n, floats, x, at) -> expandOffset32(b, n, floats, at);
                case SCALE_OFFSET_16 -> (b, row, n, floats, x, at) -> expandOffset16(b, n, floats, at);
            }
        };
    }

    @Override
    public final int scratchBytes(int n) {
        return Math.addExact(row(n) + PADDING, Math.multiplyExact(n / block, blockBytes));
    }

    /// Where a row's bytes begin: behind its levels.
    private static int row(int n) {
        return n + PADDING;
    }

    @Override
    final int span(int n) {
        return n;
    }

    @Override
    final long spanBytes(int elements) {
        return (long) elements / block * blockBytes;
    }

    @Override
    final void add(MemorySegment w, long at, float[] x, int xOffset, int n, Scratch scratch, int strands) {
        // The row is a span, so the strands are the first ones, and the parts set them.
        run(dot, Memory.base(w), at, n, scratch, x, xOffset);
    }

    @Override
    final void expand(MemorySegment w, long offset, int n, Scratch scratch, int at) {
        run(expand, w, offset, n, scratch, scratch.floats(), at);
    }

    private void run(Part[] parts, MemorySegment w, long offset, int n, Scratch scratch, float[] x, int at) {
        byte[] b = scratch.levels();
        int row = row(n);
        MemorySegment.copy(w, ValueLayout.JAVA_BYTE, offset, b, row, n / block * blockBytes);
        for (Part part : parts) {
            part.run(b, row, n, scratch.floats(), x, at);
        }
    }

    private static void dotScaled(byte[] levels, int n, float[] floats, float[] x, int xOffset) {
        for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
            scaled(levels, s, floats, x, xOffset, n);
        }
    }

    private static void dotOffset32(byte[] levels, int n, float[] floats, float[] x, int xOffset) {
        for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
            offset32(levels, s, floats, x, xOffset, n);
        }
    }

    private static void dotOffset16(byte[] levels, int n, float[] floats, float[] x, int xOffset) {
        for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
            offset16(levels, s, floats, x, xOffset, n);
        }
    }

    private static void expandScaled(byte[] levels, int n, float[] floats, int at) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector scale = FloatVector.broadcast(F, floats[SCALES + (i >> 4)]);
            vector(levels, i).mul(scale).intoArray(floats, at + i);
        }
    }

    private static void expandOffset32(byte[] levels, int n, float[] floats, int at) {
        for (int i = 0; i < n; i += LANES) {
            int group = SCALES + (i >> 8) * 16 + (i >> 5 & 7);
            FloatVector scale = FloatVector.broadcast(F, floats[group]);
            FloatVector shift = FloatVector.broadcast(F, floats[group + 8]);
            vector(levels, i).fma(scale, shift).intoArray(floats, at + i);
        }
    }

    private static void expandOffset16(byte[] levels, int n, float[] floats, int at) {
        for (int i = 0; i < n; i += LANES) {
            int group = SCALES + (i >> 8) * 32 + (i >> 4 & 15);
            FloatVector scale = FloatVector.broadcast(F, floats[group]);
            FloatVector shift = FloatVector.broadcast(F, floats[group + 16]);
            vector(levels, i).fma(scale, shift).intoArray(floats, at + i);
        }
    }

    private static FloatVector vector(byte[] levels, int i) {
        return Species.floats(levels, i);
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
    private static void offset32(byte[] levels, int s, float[] floats, float[] x, int xOffset, int n) {
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

    /// Two vectors of strands, from strand `s` on.
    private static void offset16(byte[] levels, int s, float[] floats, float[] x, int xOffset, int n) {
        FloatVector a0 = FloatVector.zero(F);
        FloatVector a1 = a0;
        int y = xOffset + s;
        int g0 = SCALES + (s >> 4);
        int g1 = SCALES + ((s + LANES) >> 4);
        for (int i = 0; i < n; i += Strands.COUNT) {
            int group = (i >> 8) * 32 + (i >> 4 & 15);
            FloatVector d = FloatVector.broadcast(F, floats[g0 + group]);
            FloatVector m = FloatVector.broadcast(F, floats[g0 + group + 16]);
            a0 = vector(levels, s + i).fma(d, m).fma(FloatVector.fromArray(F, x, y + i), a0);
            d = FloatVector.broadcast(F, floats[g1 + group]);
            m = FloatVector.broadcast(F, floats[g1 + group + 16]);
            a1 = vector(levels, s + i + LANES).fma(d, m).fma(FloatVector.fromArray(F, x, y + i + LANES), a1);
        }
        a0.intoArray(floats, s);
        a1.intoArray(floats, s + LANES);
    }
}
