package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.PermutedLinear.STEP;
import static dev.tenon.backend.cpu.vector.kernel.PermutedLinear.VECTOR;
import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/// Multiplies decoded weight rows with packed activations, in the order of [PermutedLinear].
///
/// Rows lie in tiles: a tile's vectors of the same place follow each other, so that all of it
/// is read in one stream. A tile keeps one accumulator for each pair of a row and a token in a
/// register. Everything is aligned to cache lines, which arrays of the JVM are not: a load of
/// 64 bytes from those takes two.
final class PermutedPanel {
    /// Rows of a panel.
    static final int ROWS = 16;
    /// Rows of a tile: narrow machines have half the registers.
    private static final int TILE_ROWS = LANES == 16 ? 4 : 2;
    /// Tokens of a tile.
    private static final int TOKENS = 4;
    /// Vectors that a tile takes at once; those of its tokens stay in the first-level cache for
    /// all rows.
    private static final int SLICE = 64;
    /// Bytes from a decoded vector to the next one of its row.
    static final long APART = TILE_ROWS * VECTOR;
    /// Bytes of the strands of a row and a token: even vectors, odd vectors, sums.
    static final long PAIR = 3 * VECTOR;
    /// Bytes of all strands.
    static final long STRANDS = ROWS * TOKENS * PAIR;

    private PermutedPanel() {}

    /// {@return how many rows have to be decoded: whole tiles}
    ///
    /// @param rows number of rows
    static int padded(int rows) {
        return (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
    }

    /// {@return where a row's first vector lies in the panel}
    ///
    /// @param row which row
    /// @param vectors vectors of a row
    static long row(int row, int vectors) {
        return row / TILE_ROWS * (long) vectors * APART + row % TILE_ROWS * (long) VECTOR;
    }

    /// Sets strands to 0.
    ///
    /// @param scratch where they are
    /// @param at where the first pair's start
    /// @param pairs number of pairs
    static void clear(MemorySegment scratch, long at, int pairs) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        FloatVector zero = FloatVector.zero(F);
        for (long i = 0; i < pairs * PAIR; i += STEP) {
            zero.intoMemorySegment(s, at + i, Species.LE);
        }
    }

    /// Copies vectors of sixteen floats.
    ///
    /// @param scratch where they are
    /// @param from where the first is
    /// @param to where it goes
    /// @param apart bytes to where the next goes
    /// @param count number of vectors
    static void copy(MemorySegment scratch, long from, long to, long apart, int count) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        for (int i = 0; i < count; i++) {
            for (int part = 0; part < VECTOR; part += STEP) {
                FloatVector.fromMemorySegment(F, s, from + i * VECTOR + part, Species.LE)
                        .intoMemorySegment(s, to + i * apart + part, Species.LE);
            }
        }
    }

    /// Adds products of vectors of sixteen floats to strands.
    ///
    /// @param scratch memory of the first factors and the strands
    /// @param from where the first factors are
    /// @param strands where the sixteen strands are
    /// @param packed memory of the second factors
    /// @param x where those are
    /// @param count number of vectors
    static void dot(MemorySegment scratch, long from, long strands, MemorySegment packed, long x, int count) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        for (int part = 0; part < VECTOR; part += STEP) {
            FloatVector a = FloatVector.fromMemorySegment(F, s, strands + part, Species.LE);
            for (int i = 0; i < count; i++) {
                a = FloatVector.fromMemorySegment(F, s, from + i * VECTOR + part, Species.LE)
                        .fma(FloatVector.fromMemorySegment(F, m, x + i * VECTOR + part, Species.LE), a);
            }
            a.intoMemorySegment(s, strands + part, Species.LE);
        }
    }

    /// {@return the sum of a pair's strands: even and odd, then the sums, then the sixteen in a
    /// tree}
    ///
    /// @param scratch where they are
    /// @param at where the first is
    static float sum(MemorySegment scratch, long at) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        if (LANES == 16) {
            return Strands.fold(three(s, at));
        }
        if (LANES == 8) {
            return Strands.fold(three(s, at).add(three(s, at + 32)));
        }
        FloatVector low = three(s, at).add(three(s, at + 32));
        return Strands.fold(low.add(three(s, at + 16).add(three(s, at + 48))));
    }

    private static FloatVector three(MemorySegment s, long at) {
        return FloatVector.fromMemorySegment(F, s, at, Species.LE)
                .add(FloatVector.fromMemorySegment(F, s, at + VECTOR, Species.LE))
                .add(FloatVector.fromMemorySegment(F, s, at + 2 * VECTOR, Species.LE));
    }

    /// Computes `out[outOffset + t * outStride + r]`.
    ///
    /// @param scratch memory of strands and panel
    /// @param strands where [#STRANDS] bytes for strands are
    /// @param panel where the rows are
    /// @param rows number of rows; as many as [#padded] says are decoded
    /// @param packed memory of the packed activations
    /// @param x where they start
    /// @param half even vectors of a row, and as many odd ones
    /// @param sums vectors of sums
    /// @param tokens number of tokens
    /// @param out receives the sums
    /// @param outOffset index of the first
    /// @param outStride elements between tokens in `out`
    static void multiply(
            MemorySegment scratch,
            long strands,
            long panel,
            int rows,
            MemorySegment packed,
            long x,
            int half,
            int sums,
            int tokens,
            float[] out,
            int outOffset,
            int outStride) {
        int vectors = 2 * half + sums;
        long stride = (long) vectors * VECTOR;
        for (int t = 0; t < tokens; t += TOKENS) {
            // A tile that lacks tokens computes the last one again.
            long x0 = x + t * stride;
            long x1 = x + Math.min(t + 1, tokens - 1) * stride;
            long x2 = x + Math.min(t + 2, tokens - 1) * stride;
            long x3 = x + Math.min(t + 3, tokens - 1) * stride;
            clear(scratch, strands, ROWS * TOKENS);
            int from = 0;
            while (from < vectors) {
                // Even vectors, odd ones, and sums have strands of their own.
                int kind = Math.min(from / half, 2);
                int to = Math.min(kind == 2 ? vectors : (kind + 1) * half, from + SLICE);
                for (int r = 0; r < rows; r += TILE_ROWS) {
                    for (int part = 0; part < VECTOR; part += STEP) {
                        long s = strands + r * TOKENS * PAIR + kind * VECTOR + part;
                        long w = panel + row(r, vectors) + from * APART + part;
                        long i = (long) from * VECTOR + part;
                        if (LANES == 16) {
                            tile4(scratch, s, w, packed, x0 + i, x1 + i, x2 + i, x3 + i, to - from);
                        } else {
                            tile2(scratch, s, w, packed, x0 + i, x1 + i, x2 + i, x3 + i, to - from);
                        }
                    }
                }
                from = to;
            }
            for (int r = 0; r < rows; r++) {
                for (int j = 0; j < TOKENS && t + j < tokens; j++) {
                    out[outOffset + (t + j) * outStride + r] = sum(scratch, strands + (r * TOKENS + j) * PAIR);
                }
            }
        }
    }

    /// Four rows, four tokens, some vectors; all places are those of the first one.
    private static void tile4(
            MemorySegment scratch,
            long strands,
            long w,
            MemorySegment packed,
            long x0,
            long x1,
            long x2,
            long x3,
            int n) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment x = Memory.ALL == null ? packed : Memory.ALL;
        long q = strands & Memory.ADDRESS;
        FloatVector a00 = FloatVector.fromMemorySegment(F, s, q, Species.LE);
        FloatVector a01 = FloatVector.fromMemorySegment(F, s, q + 1 * PAIR, Species.LE);
        FloatVector a02 = FloatVector.fromMemorySegment(F, s, q + 2 * PAIR, Species.LE);
        FloatVector a03 = FloatVector.fromMemorySegment(F, s, q + 3 * PAIR, Species.LE);
        FloatVector a10 = FloatVector.fromMemorySegment(F, s, q + 4 * PAIR, Species.LE);
        FloatVector a11 = FloatVector.fromMemorySegment(F, s, q + 5 * PAIR, Species.LE);
        FloatVector a12 = FloatVector.fromMemorySegment(F, s, q + 6 * PAIR, Species.LE);
        FloatVector a13 = FloatVector.fromMemorySegment(F, s, q + 7 * PAIR, Species.LE);
        FloatVector a20 = FloatVector.fromMemorySegment(F, s, q + 8 * PAIR, Species.LE);
        FloatVector a21 = FloatVector.fromMemorySegment(F, s, q + 9 * PAIR, Species.LE);
        FloatVector a22 = FloatVector.fromMemorySegment(F, s, q + 10 * PAIR, Species.LE);
        FloatVector a23 = FloatVector.fromMemorySegment(F, s, q + 11 * PAIR, Species.LE);
        FloatVector a30 = FloatVector.fromMemorySegment(F, s, q + 12 * PAIR, Species.LE);
        FloatVector a31 = FloatVector.fromMemorySegment(F, s, q + 13 * PAIR, Species.LE);
        FloatVector a32 = FloatVector.fromMemorySegment(F, s, q + 14 * PAIR, Species.LE);
        FloatVector a33 = FloatVector.fromMemorySegment(F, s, q + 15 * PAIR, Species.LE);
        long p = w;
        long i = 0;
        long end = (long) n * VECTOR;
        do {
            p &= Memory.ADDRESS;
            FloatVector v0 = FloatVector.fromMemorySegment(F, x, x0 + i & Memory.ADDRESS, Species.LE);
            FloatVector v1 = FloatVector.fromMemorySegment(F, x, x1 + i & Memory.ADDRESS, Species.LE);
            FloatVector v2 = FloatVector.fromMemorySegment(F, x, x2 + i & Memory.ADDRESS, Species.LE);
            FloatVector v3 = FloatVector.fromMemorySegment(F, x, x3 + i & Memory.ADDRESS, Species.LE);
            FloatVector u = FloatVector.fromMemorySegment(F, s, p, Species.LE);
            a00 = u.fma(v0, a00);
            a01 = u.fma(v1, a01);
            a02 = u.fma(v2, a02);
            a03 = u.fma(v3, a03);
            u = FloatVector.fromMemorySegment(F, s, p + 1 * VECTOR, Species.LE);
            a10 = u.fma(v0, a10);
            a11 = u.fma(v1, a11);
            a12 = u.fma(v2, a12);
            a13 = u.fma(v3, a13);
            u = FloatVector.fromMemorySegment(F, s, p + 2 * VECTOR, Species.LE);
            a20 = u.fma(v0, a20);
            a21 = u.fma(v1, a21);
            a22 = u.fma(v2, a22);
            a23 = u.fma(v3, a23);
            u = FloatVector.fromMemorySegment(F, s, p + 3 * VECTOR, Species.LE);
            a30 = u.fma(v0, a30);
            a31 = u.fma(v1, a31);
            a32 = u.fma(v2, a32);
            a33 = u.fma(v3, a33);
            p += APART;
            i += VECTOR;
        } while (i != end);
        a00.intoMemorySegment(s, q, Species.LE);
        a01.intoMemorySegment(s, q + 1 * PAIR, Species.LE);
        a02.intoMemorySegment(s, q + 2 * PAIR, Species.LE);
        a03.intoMemorySegment(s, q + 3 * PAIR, Species.LE);
        a10.intoMemorySegment(s, q + 4 * PAIR, Species.LE);
        a11.intoMemorySegment(s, q + 5 * PAIR, Species.LE);
        a12.intoMemorySegment(s, q + 6 * PAIR, Species.LE);
        a13.intoMemorySegment(s, q + 7 * PAIR, Species.LE);
        a20.intoMemorySegment(s, q + 8 * PAIR, Species.LE);
        a21.intoMemorySegment(s, q + 9 * PAIR, Species.LE);
        a22.intoMemorySegment(s, q + 10 * PAIR, Species.LE);
        a23.intoMemorySegment(s, q + 11 * PAIR, Species.LE);
        a30.intoMemorySegment(s, q + 12 * PAIR, Species.LE);
        a31.intoMemorySegment(s, q + 13 * PAIR, Species.LE);
        a32.intoMemorySegment(s, q + 14 * PAIR, Species.LE);
        a33.intoMemorySegment(s, q + 15 * PAIR, Species.LE);
    }

    /// Two rows, four tokens.
    private static void tile2(
            MemorySegment scratch,
            long strands,
            long w,
            MemorySegment packed,
            long x0,
            long x1,
            long x2,
            long x3,
            int n) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment x = Memory.ALL == null ? packed : Memory.ALL;
        long q = strands & Memory.ADDRESS;
        FloatVector a00 = FloatVector.fromMemorySegment(F, s, q, Species.LE);
        FloatVector a01 = FloatVector.fromMemorySegment(F, s, q + 1 * PAIR, Species.LE);
        FloatVector a02 = FloatVector.fromMemorySegment(F, s, q + 2 * PAIR, Species.LE);
        FloatVector a03 = FloatVector.fromMemorySegment(F, s, q + 3 * PAIR, Species.LE);
        FloatVector a10 = FloatVector.fromMemorySegment(F, s, q + 4 * PAIR, Species.LE);
        FloatVector a11 = FloatVector.fromMemorySegment(F, s, q + 5 * PAIR, Species.LE);
        FloatVector a12 = FloatVector.fromMemorySegment(F, s, q + 6 * PAIR, Species.LE);
        FloatVector a13 = FloatVector.fromMemorySegment(F, s, q + 7 * PAIR, Species.LE);
        long p = w;
        long i = 0;
        long end = (long) n * VECTOR;
        do {
            p &= Memory.ADDRESS;
            FloatVector v0 = FloatVector.fromMemorySegment(F, x, x0 + i & Memory.ADDRESS, Species.LE);
            FloatVector v1 = FloatVector.fromMemorySegment(F, x, x1 + i & Memory.ADDRESS, Species.LE);
            FloatVector v2 = FloatVector.fromMemorySegment(F, x, x2 + i & Memory.ADDRESS, Species.LE);
            FloatVector v3 = FloatVector.fromMemorySegment(F, x, x3 + i & Memory.ADDRESS, Species.LE);
            FloatVector u = FloatVector.fromMemorySegment(F, s, p, Species.LE);
            a00 = u.fma(v0, a00);
            a01 = u.fma(v1, a01);
            a02 = u.fma(v2, a02);
            a03 = u.fma(v3, a03);
            u = FloatVector.fromMemorySegment(F, s, p + 1 * VECTOR, Species.LE);
            a10 = u.fma(v0, a10);
            a11 = u.fma(v1, a11);
            a12 = u.fma(v2, a12);
            a13 = u.fma(v3, a13);
            p += APART;
            i += VECTOR;
        } while (i != end);
        a00.intoMemorySegment(s, q, Species.LE);
        a01.intoMemorySegment(s, q + 1 * PAIR, Species.LE);
        a02.intoMemorySegment(s, q + 2 * PAIR, Species.LE);
        a03.intoMemorySegment(s, q + 3 * PAIR, Species.LE);
        a10.intoMemorySegment(s, q + 4 * PAIR, Species.LE);
        a11.intoMemorySegment(s, q + 5 * PAIR, Species.LE);
        a12.intoMemorySegment(s, q + 6 * PAIR, Species.LE);
        a13.intoMemorySegment(s, q + 7 * PAIR, Species.LE);
    }
}
