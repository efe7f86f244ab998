package dev.tenon.backend.cpu.vector.kernel.linear;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/// Frame of the kernels for formats with packed levels: unpack 256 weights of each row into int8 levels and
/// float32 scales, then multiply.
///
/// Unpacking and multiplying meet in memory that the first-level cache holds, not in vectors. So each is a small
/// loop that the JIT compiler handles well by itself, and multiplying serves all formats. Scales
/// lie from [Panel#SCRATCH] on, 32 floats a row.
abstract class LevelLinear extends VectorLinear {
    /// How levels become values.
    enum Kind {
        /// `value = scale[i / 16] * level`.
        SCALE_16,
        /// `value = scale[i / 32] * level`.
        SCALE_32,
        /// `value = scale[i / 32] * level + offset[i / 32]`, fused; for each 256 elements eight scales,
        /// then eight offsets.
        SCALE_OFFSET_32,
        /// `value = scale[i / 16] * level + offset[i / 16]`, fused; for each 256 elements sixteen scales,
        /// then sixteen offsets.
        SCALE_OFFSET_16
    }

    /// Elements of a span.
    private static final int SPAN = 256;
    /// Where bytes begin that parts are free to use.
    static final int SPARE = STREAMS * SPAN;
    /// Those bytes, and some that narrow vectors load and do not use.
    private static final int SPARE_BYTES = STREAMS * SPAN + 16;

    /// A part of the work on a span that the JIT compiler shall compile by itself.
    ///
    /// Inlined into one method, the parts exceed C2's limit of nodes, and vectors of the part that no
    /// longer fits are then made on the heap, ten times slower. A call that meets three classes in turn is
    /// never inlined.
    interface Part {
        /// Does its part.
        ///
        /// @param r the rows; at most 256 elements of each
        /// @param levels 256 levels a row
        /// @param floats 32 strands a row, and behind them scales
        void run(RowSpans r, byte[] levels, float[] floats);
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
    /// @param scales unpacks scales, from [#scalesAt] on; a class of its own for each format, since two formats
    /// at one call would be inlined into one method, which then exceeds the limit
    /// @param levels unpacks levels, from [#levelsAt] on; the same holds
    LevelLinear(String format, Kind kind, int block, int blockBytes, Part scales, Part levels) {
        super(format);
        this.block = block;
        this.blockBytes = blockBytes;
        dot = new Part[] {
            scales,
            levels,
            switch (kind) {
                case SCALE_16 -> LevelLinear::dotScaled;
                case SCALE_32 -> LevelLinear::dotScaled32;
                case SCALE_OFFSET_32 -> block < SPAN ? LevelLinear::dotPartialOffset32 : LevelLinear::dotOffset32;
                case SCALE_OFFSET_16 -> block < SPAN ? LevelLinear::dotPartialOffset16 : LevelLinear::dotOffset16;
            }
        };
        expand = new Part[] {
            scales,
            levels,
            switch (kind) {
                case SCALE_16 -> LevelLinear::expandScaled;
                case SCALE_32 -> LevelLinear::expandScaled32;
                case SCALE_OFFSET_32 -> LevelLinear::expandOffset32;
                case SCALE_OFFSET_16 -> LevelLinear::expandOffset16;
            }
        };
    }

    /// {@return index of a row's first scale in the thread's floats}
    ///
    /// @param stream which row
    static int scalesAt(int stream) {
        return Panel.SCRATCH + stream * (SCALES / STREAMS);
    }

    /// {@return index of a row's first level}
    ///
    /// @param stream which row
    static int levelsAt(int stream) {
        return stream * SPAN;
    }

    @Override
    public final int scratchBytes(int n) {
        return SPARE + SPARE_BYTES;
    }

    @Override
    final int span() {
        return SPAN;
    }

    @Override
    final long spanBytes(int elements) {
        return (long) elements / block * blockBytes;
    }

    @Override
    final void add(RowSpans r, Scratch scratch) {
        run(dot, r, scratch);
    }

    @Override
    final void expand(MemorySegment w, long offset, int n, Scratch scratch, int at) {
        RowSpans spans = scratch.spans();
        spans.weights = w;
        spans.at = Memory.at(w, offset, spanBytes(n));
        spans.rows = 1;
        spans.x = scratch.floats();
        for (int i = 0; i < n; i += SPAN) {
            spans.n = Math.min(SPAN, n - i);
            spans.xOffset = at + i;
            run(expand, spans, scratch);
            spans.at += spanBytes(spans.n);
        }
    }

    private static void run(Part[] parts, RowSpans r, Scratch scratch) {
        for (Part part : parts) {
            part.run(r, scratch.levels(), scratch.floats());
        }
    }

    @ForceInline
    private static FloatVector level(byte[] levels, int i) {
        return Species.floats(levels, i);
    }

    private static void dotScaled(RowSpans r, byte[] b, float[] f) {
        int n = r.n;
        for (int stream = 0; stream < r.rows; stream++) {
            for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
                if (n == SPAN) {
                    // A constant: the compiler unrolls the loop.
                    scaled(r, b, f, stream, s, SPAN);
                } else {
                    scaled(r, b, f, stream, s, n);
                }
            }
        }
    }

    private static void dotScaled32(RowSpans r, byte[] b, float[] f) {
        int n = r.n;
        for (int stream = 0; stream < r.rows; stream++) {
            for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
                if (n == SPAN) {
                    scaled32(r, b, f, stream, s, SPAN);
                } else {
                    scaled32(r, b, f, stream, s, n);
                }
            }
        }
    }

    private static void dotOffset32(RowSpans r, byte[] b, float[] f) {
        for (int stream = 0; stream < r.rows; stream++) {
            for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
                offset32(r, b, f, stream, s, SPAN);
            }
        }
    }

    /// As [#dotOffset32], for spans that may be partial: both in one method exceed the limit of nodes.
    private static void dotPartialOffset32(RowSpans r, byte[] b, float[] f) {
        for (int stream = 0; stream < r.rows; stream++) {
            for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
                offset32(r, b, f, stream, s, r.n);
            }
        }
    }

    private static void dotOffset16(RowSpans r, byte[] b, float[] f) {
        for (int stream = 0; stream < r.rows; stream++) {
            for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
                offset16(r, b, f, stream, s, SPAN);
            }
        }
    }

    /// As [#dotOffset16], for spans that may be partial.
    private static void dotPartialOffset16(RowSpans r, byte[] b, float[] f) {
        for (int stream = 0; stream < r.rows; stream++) {
            for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
                offset16(r, b, f, stream, s, r.n);
            }
        }
    }

    private static void expandScaled(RowSpans r, byte[] b, float[] f) {
        float[] x = r.x;
        int to = r.xOffset;
        int n = r.n;
        for (int i = 0; i < n; i += LANES) {
            FloatVector scale = FloatVector.broadcast(F, f[scalesAt(0) + (i >> 4)]);
            level(b, i).mul(scale).intoArray(x, to + i);
        }
    }

    private static void expandScaled32(RowSpans r, byte[] b, float[] f) {
        float[] x = r.x;
        int to = r.xOffset;
        int n = r.n;
        for (int i = 0; i < n; i += LANES) {
            FloatVector scale = FloatVector.broadcast(F, f[scalesAt(0) + (i >> 5)]);
            level(b, i).mul(scale).intoArray(x, to + i);
        }
    }

    private static void expandOffset32(RowSpans r, byte[] b, float[] f) {
        float[] x = r.x;
        int to = r.xOffset;
        int n = r.n;
        for (int i = 0; i < n; i += LANES) {
            int group = scalesAt(0) + (i >> 5);
            FloatVector scale = FloatVector.broadcast(F, f[group]);
            FloatVector shift = FloatVector.broadcast(F, f[group + 8]);
            level(b, i).fma(scale, shift).intoArray(x, to + i);
        }
    }

    private static void expandOffset16(RowSpans r, byte[] b, float[] f) {
        float[] x = r.x;
        int to = r.xOffset;
        int n = r.n;
        for (int i = 0; i < n; i += LANES) {
            int group = scalesAt(0) + (i >> 4);
            FloatVector scale = FloatVector.broadcast(F, f[group]);
            FloatVector shift = FloatVector.broadcast(F, f[group + 16]);
            level(b, i).fma(scale, shift).intoArray(x, to + i);
        }
    }

    /// Two vectors of strands of a row.
    ///
    /// @param stream which row
    /// @param s the first of the strands
    @ForceInline
    private static void scaled(RowSpans r, byte[] b, float[] f, int stream, int s, int n) {
        float[] x = r.x;
        int xOffset = r.xOffset + s;
        int levels = levelsAt(stream) + s;
        int strands = stream * Strands.COUNT + s;
        FloatVector a0 = FloatVector.fromArray(F, f, strands);
        FloatVector a1 = FloatVector.fromArray(F, f, strands + LANES);
        int g0 = scalesAt(stream) + (s >> 4);
        int g1 = scalesAt(stream) + ((s + LANES) >> 4);
        for (int i = 0; i < n; i += Strands.COUNT) {
            FloatVector d0 = FloatVector.broadcast(F, f[g0 + (i >> 4)]);
            FloatVector d1 = FloatVector.broadcast(F, f[g1 + (i >> 4)]);
            a0 = level(b, levels + i).mul(d0).fma(FloatVector.fromArray(F, x, xOffset + i), a0);
            a1 = level(b, levels + i + LANES).mul(d1).fma(FloatVector.fromArray(F, x, xOffset + i + LANES), a1);
        }
        a0.intoArray(f, strands);
        a1.intoArray(f, strands + LANES);
    }

    @ForceInline
    private static void scaled32(RowSpans r, byte[] b, float[] f, int stream, int s, int n) {
        float[] x = r.x;
        int xOffset = r.xOffset + s;
        int levels = levelsAt(stream) + s;
        int strands = stream * Strands.COUNT + s;
        int scales = scalesAt(stream);
        FloatVector a0 = FloatVector.fromArray(F, f, strands);
        FloatVector a1 = FloatVector.fromArray(F, f, strands + LANES);
        for (int i = 0; i < n; i += Strands.COUNT) {
            FloatVector d = FloatVector.broadcast(F, f[scales + (i >> 5)]);
            a0 = level(b, levels + i).mul(d).fma(FloatVector.fromArray(F, x, xOffset + i), a0);
            a1 = level(b, levels + i + LANES).mul(d).fma(FloatVector.fromArray(F, x, xOffset + i + LANES), a1);
        }
        a0.intoArray(f, strands);
        a1.intoArray(f, strands + LANES);
    }

    @ForceInline
    private static void offset32(RowSpans r, byte[] b, float[] f, int stream, int s, int n) {
        float[] x = r.x;
        int xOffset = r.xOffset + s;
        int levels = levelsAt(stream) + s;
        int strands = stream * Strands.COUNT + s;
        int scales = scalesAt(stream);
        FloatVector a0 = FloatVector.fromArray(F, f, strands);
        FloatVector a1 = FloatVector.fromArray(F, f, strands + LANES);
        for (int i = 0; i < n; i += Strands.COUNT) {
            FloatVector d = FloatVector.broadcast(F, f[scales + (i >> 5)]);
            FloatVector m = FloatVector.broadcast(F, f[scales + (i >> 5) + 8]);
            a0 = level(b, levels + i).fma(d, m).fma(FloatVector.fromArray(F, x, xOffset + i), a0);
            a1 = level(b, levels + i + LANES).fma(d, m).fma(FloatVector.fromArray(F, x, xOffset + i + LANES), a1);
        }
        a0.intoArray(f, strands);
        a1.intoArray(f, strands + LANES);
    }

    @ForceInline
    private static void offset16(RowSpans r, byte[] b, float[] f, int stream, int s, int n) {
        float[] x = r.x;
        int xOffset = r.xOffset + s;
        int levels = levelsAt(stream) + s;
        int strands = stream * Strands.COUNT + s;
        FloatVector a0 = FloatVector.fromArray(F, f, strands);
        FloatVector a1 = FloatVector.fromArray(F, f, strands + LANES);
        int g0 = scalesAt(stream) + (s >> 4);
        int g1 = scalesAt(stream) + ((s + LANES) >> 4);
        for (int i = 0; i < n; i += Strands.COUNT) {
            FloatVector d = FloatVector.broadcast(F, f[g0 + (i >> 4)]);
            FloatVector m = FloatVector.broadcast(F, f[g0 + (i >> 4) + 16]);
            a0 = level(b, levels + i).fma(d, m).fma(FloatVector.fromArray(F, x, xOffset + i), a0);
            d = FloatVector.broadcast(F, f[g1 + (i >> 4)]);
            m = FloatVector.broadcast(F, f[g1 + (i >> 4) + 16]);
            a1 = level(b, levels + i + LANES).fma(d, m).fma(FloatVector.fromArray(F, x, xOffset + i + LANES), a1);
        }
        a0.intoArray(f, strands);
        a1.intoArray(f, strands + LANES);
    }
}
