package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.PermutedLinear.STEP;
import static dev.tenon.backend.cpu.vector.kernel.PermutedLinear.VECTOR;
import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.I;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;

/// Multiplies decoded weight rows with packed activations, in the order of [PermutedLinear].
///
/// A lane belongs to a row here, not to a strand: decoded is one strand at a time, its elements one
/// after the other, each for all rows. A tile keeps an accumulator for each pair of some rows and
/// a token in a register and works on one strand at a time: it loads the rows' elements and spreads
/// the token's. So it reads half of the bytes that it would read with strands in lanes, the strand
/// stays in the first-level cache for all tokens, and no sum runs across lanes.
///
/// Everything is aligned to cache lines, which arrays of the JVM are not: a load of 64 bytes from
/// those takes two.
final class PermutedPanel {
    /// Vectors of rows in a tile: narrow machines have half the registers.
    private static final int UNITS = LANES == 16 ? 4 : 2;
    /// Rows of a panel, and of a tile.
    static final int ROWS = UNITS * LANES;
    /// Bytes of a number for each of the rows.
    static final int WIDTH = UNITS * STEP;
    /// Tokens of a tile; their strands lie interleaved.
    static final int TOKENS = 4;
    /// Tokens that take their turn with a strand; theirs of one kind lie together.
    static final int CHUNK = 256;
    /// Bytes of the strands of a row and a token where strands lie in lanes.
    static final long PAIR = 3 * VECTOR;
    /// Bytes of what a tile of tokens adds to its first strand: nothing.
    private static final int NOTHING = TOKENS * WIDTH;
    /// Bytes of the sums of a chunk.
    private static final int LEVEL = CHUNK * WIDTH;
    /// Bytes of sums: of a tree over sixteen strands, five sums are open at once at most.
    static final int SUMS = NOTHING + 5 * LEVEL;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(Species.LE);

    private PermutedPanel() {}

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
    /// @param count number of vectors
    static void copy(MemorySegment scratch, long from, long to, int count) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        for (int i = 0; i < count; i++) {
            for (int part = 0; part < VECTOR; part += STEP) {
                FloatVector.fromMemorySegment(F, s, from + i * VECTOR + part, Species.LE)
                        .intoMemorySegment(s, to + i * VECTOR + part, Species.LE);
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

    /// Prepares the sums of a panel.
    ///
    /// @param scratch their memory
    /// @param sums where [#SUMS] bytes are
    static void begin(MemorySegment scratch, long sums) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        // Minus zero changes no number that it is added to.
        FloatVector v = FloatVector.broadcast(F, -0f);
        for (int i = 0; i < NOTHING; i += STEP) {
            v.intoMemorySegment(s, sums + i, Species.LE);
        }
    }

    /// Adds up the strands of a lane, even and odd, then the sums, and then lanes in a tree. Called
    /// for lanes in the order of [#lane(int)].
    ///
    /// @param n how many lanes were before
    /// @param scratch memory of sums and strands
    /// @param sums where [#SUMS] bytes are
    /// @param even where the even strand is; the odd one follows
    /// @param rest where the strand of sums is
    /// @param packed memory of the packed activations
    /// @param x where the tokens' even strands are: four tokens' first elements, their second ones,
    ///     to the last; then the next four tokens'
    /// @param y where the odd strands are
    /// @param z where the strands of sums are
    /// @param length elements of the even strand, and of the odd one
    /// @param restLength elements of the strand of sums, may be 0
    /// @param tokens number of tokens, at most [#CHUNK]
    static void lane(
            int n,
            MemorySegment scratch,
            long sums,
            long even,
            long rest,
            MemorySegment packed,
            long x,
            long y,
            long z,
            int length,
            int restLength,
            int tokens) {
        long to = sums + NOTHING + (long) Integer.bitCount(n) * LEVEL;
        long odd = even + (long) length * WIDTH;
        strand(scratch, even, packed, x, tokens, length, sums, true, to);
        strand(scratch, odd, packed, y, tokens, length, to, false, to);
        if (restLength > 0) {
            strand(scratch, rest, packed, z, tokens, restLength, to, false, to);
        }
        int bytes = (tokens + TOKENS - 1) / TOKENS * TOKENS * WIDTH;
        for (int k = n; (k & 1) == 1; k >>= 1) {
            add(scratch, to - LEVEL, to, bytes);
            to -= LEVEL;
        }
    }

    /// {@return the lane that is the next one of the tree: 0, 8, 4, 12, 2, and so on}
    ///
    /// @param n how many were before
    static int lane(int n) {
        return Integer.reverse(n) >>> 28;
    }

    /// Copies what all lanes came to.
    ///
    /// @param scratch its memory
    /// @param sums as for a lane
    /// @param plus is added to each
    /// @param tokens number of tokens
    /// @param rows number of rows
    /// @param out receives `out[outOffset + t * outStride + r]`
    /// @param outOffset index of the first
    /// @param outStride elements between tokens in `out`
    static void store(
            MemorySegment scratch,
            long sums,
            float plus,
            int tokens,
            int rows,
            float[] out,
            int outOffset,
            int outStride) {
        for (int t = 0; t < tokens; t++) {
            store(scratch, sums + NOTHING + (long) t * WIDTH, plus, out, outOffset + t * outStride, rows);
        }
    }

    /// One strand of all rows and the tokens of a chunk, added to what lies at `before`. A tile that
    /// lacks tokens computes what is left of others.
    private static void strand(
            MemorySegment scratch,
            long w,
            MemorySegment packed,
            long x,
            int count,
            int length,
            long before,
            boolean same,
            long to) {
        for (int t = 0; t < count; t += TOKENS) {
            long at = (long) t * WIDTH;
            long from = x + (long) t * length * Float.BYTES;
            if (LANES == 16) {
                tile4(scratch, w, packed, from, same ? before : before + at, to + at, length);
            } else {
                tile2(scratch, w, packed, from, same ? before : before + at, to + at, length);
            }
        }
    }

    /// Adds sums to others; the number of bytes is a multiple of four vectors.
    private static void add(MemorySegment scratch, long to, long from, int bytes) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = to;
        long q = from;
        long end = to + bytes;
        do {
            p &= Memory.ADDRESS;
            q &= Memory.ADDRESS;
            FloatVector.fromMemorySegment(F, s, p, Species.LE)
                    .add(FloatVector.fromMemorySegment(F, s, q, Species.LE))
                    .intoMemorySegment(s, p, Species.LE);
            FloatVector.fromMemorySegment(F, s, p + STEP, Species.LE)
                    .add(FloatVector.fromMemorySegment(F, s, q + STEP, Species.LE))
                    .intoMemorySegment(s, p + STEP, Species.LE);
            p += 2 * STEP;
            q += 2 * STEP;
        } while (p != end);
    }

    /// Copies the sums of a token's rows.
    private static void store(MemorySegment scratch, long from, float plus, float[] out, int at, int rows) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        int r = 0;
        for (; r <= rows - LANES; r += LANES) {
            FloatVector.fromMemorySegment(F, s, from + 4L * r & Memory.ADDRESS, Species.LE)
                    .add(plus)
                    .intoArray(out, at + r);
        }
        for (; r < rows; r++) {
            out[at + r] = s.get(ValueLayout.JAVA_FLOAT_UNALIGNED, from + 4L * r) + plus;
        }
    }

    /// Four vectors of rows and four tokens: adds the sums of `n` products to what lies at `before`.
    private static void tile4(
            MemorySegment scratch, long w, MemorySegment packed, long x, long before, long to, int n) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        long p = w & Memory.ADDRESS;
        long y = x & Memory.ADDRESS;
        FloatVector a00 = FloatVector.zero(F);
        FloatVector a01 = a00;
        FloatVector a02 = a00;
        FloatVector a03 = a00;
        FloatVector a10 = a00;
        FloatVector a11 = a00;
        FloatVector a12 = a00;
        FloatVector a13 = a00;
        FloatVector a20 = a00;
        FloatVector a21 = a00;
        FloatVector a22 = a00;
        FloatVector a23 = a00;
        FloatVector a30 = a00;
        FloatVector a31 = a00;
        FloatVector a32 = a00;
        FloatVector a33 = a00;
        int i = 0;
        int end = n * Float.BYTES;
        do {
            long k = i & 0x3FFFFFFF;
            long j = k * (WIDTH / Float.BYTES);
            FloatVector w0 = FloatVector.fromMemorySegment(F, s, p + j, Species.LE);
            FloatVector w1 = FloatVector.fromMemorySegment(F, s, p + j + 1 * STEP, Species.LE);
            FloatVector w2 = FloatVector.fromMemorySegment(F, s, p + j + 2 * STEP, Species.LE);
            FloatVector w3 = FloatVector.fromMemorySegment(F, s, p + j + 3 * STEP, Species.LE);
            FloatVector v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k)).reinterpretAsFloats();
            a00 = w0.fma(v, a00);
            a10 = w1.fma(v, a10);
            a20 = w2.fma(v, a20);
            a30 = w3.fma(v, a30);
            v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k + 4)).reinterpretAsFloats();
            a01 = w0.fma(v, a01);
            a11 = w1.fma(v, a11);
            a21 = w2.fma(v, a21);
            a31 = w3.fma(v, a31);
            v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k + 8)).reinterpretAsFloats();
            a02 = w0.fma(v, a02);
            a12 = w1.fma(v, a12);
            a22 = w2.fma(v, a22);
            a32 = w3.fma(v, a32);
            v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k + 12)).reinterpretAsFloats();
            a03 = w0.fma(v, a03);
            a13 = w1.fma(v, a13);
            a23 = w2.fma(v, a23);
            a33 = w3.fma(v, a33);
            i += Float.BYTES;
        } while (i != end);
        long q = before & Memory.ADDRESS;
        long d = to & Memory.ADDRESS;
        a00.add(FloatVector.fromMemorySegment(F, s, q, Species.LE)).intoMemorySegment(s, d, Species.LE);
        a10.add(FloatVector.fromMemorySegment(F, s, q + 1 * STEP, Species.LE))
                .intoMemorySegment(s, d + 1 * STEP, Species.LE);
        a20.add(FloatVector.fromMemorySegment(F, s, q + 2 * STEP, Species.LE))
                .intoMemorySegment(s, d + 2 * STEP, Species.LE);
        a30.add(FloatVector.fromMemorySegment(F, s, q + 3 * STEP, Species.LE))
                .intoMemorySegment(s, d + 3 * STEP, Species.LE);
        a01.add(FloatVector.fromMemorySegment(F, s, q + 4 * STEP, Species.LE))
                .intoMemorySegment(s, d + 4 * STEP, Species.LE);
        a11.add(FloatVector.fromMemorySegment(F, s, q + 5 * STEP, Species.LE))
                .intoMemorySegment(s, d + 5 * STEP, Species.LE);
        a21.add(FloatVector.fromMemorySegment(F, s, q + 6 * STEP, Species.LE))
                .intoMemorySegment(s, d + 6 * STEP, Species.LE);
        a31.add(FloatVector.fromMemorySegment(F, s, q + 7 * STEP, Species.LE))
                .intoMemorySegment(s, d + 7 * STEP, Species.LE);
        a02.add(FloatVector.fromMemorySegment(F, s, q + 8 * STEP, Species.LE))
                .intoMemorySegment(s, d + 8 * STEP, Species.LE);
        a12.add(FloatVector.fromMemorySegment(F, s, q + 9 * STEP, Species.LE))
                .intoMemorySegment(s, d + 9 * STEP, Species.LE);
        a22.add(FloatVector.fromMemorySegment(F, s, q + 10 * STEP, Species.LE))
                .intoMemorySegment(s, d + 10 * STEP, Species.LE);
        a32.add(FloatVector.fromMemorySegment(F, s, q + 11 * STEP, Species.LE))
                .intoMemorySegment(s, d + 11 * STEP, Species.LE);
        a03.add(FloatVector.fromMemorySegment(F, s, q + 12 * STEP, Species.LE))
                .intoMemorySegment(s, d + 12 * STEP, Species.LE);
        a13.add(FloatVector.fromMemorySegment(F, s, q + 13 * STEP, Species.LE))
                .intoMemorySegment(s, d + 13 * STEP, Species.LE);
        a23.add(FloatVector.fromMemorySegment(F, s, q + 14 * STEP, Species.LE))
                .intoMemorySegment(s, d + 14 * STEP, Species.LE);
        a33.add(FloatVector.fromMemorySegment(F, s, q + 15 * STEP, Species.LE))
                .intoMemorySegment(s, d + 15 * STEP, Species.LE);
    }

    /// Two vectors of rows and four tokens.
    private static void tile2(
            MemorySegment scratch, long w, MemorySegment packed, long x, long before, long to, int n) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        long p = w & Memory.ADDRESS;
        long y = x & Memory.ADDRESS;
        FloatVector a00 = FloatVector.zero(F);
        FloatVector a01 = a00;
        FloatVector a02 = a00;
        FloatVector a03 = a00;
        FloatVector a10 = a00;
        FloatVector a11 = a00;
        FloatVector a12 = a00;
        FloatVector a13 = a00;
        int i = 0;
        int end = n * Float.BYTES;
        do {
            long k = i & 0x3FFFFFFF;
            long j = k * (WIDTH / Float.BYTES);
            FloatVector w0 = FloatVector.fromMemorySegment(F, s, p + j, Species.LE);
            FloatVector w1 = FloatVector.fromMemorySegment(F, s, p + j + 1 * STEP, Species.LE);
            FloatVector v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k)).reinterpretAsFloats();
            a00 = w0.fma(v, a00);
            a10 = w1.fma(v, a10);
            v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k + 4)).reinterpretAsFloats();
            a01 = w0.fma(v, a01);
            a11 = w1.fma(v, a11);
            v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k + 8)).reinterpretAsFloats();
            a02 = w0.fma(v, a02);
            a12 = w1.fma(v, a12);
            v = (FloatVector)
                    IntVector.broadcast(I, m.get(INT, y + TOKENS * k + 12)).reinterpretAsFloats();
            a03 = w0.fma(v, a03);
            a13 = w1.fma(v, a13);
            i += Float.BYTES;
        } while (i != end);
        long q = before & Memory.ADDRESS;
        long d = to & Memory.ADDRESS;
        a00.add(FloatVector.fromMemorySegment(F, s, q, Species.LE)).intoMemorySegment(s, d, Species.LE);
        a10.add(FloatVector.fromMemorySegment(F, s, q + 1 * STEP, Species.LE))
                .intoMemorySegment(s, d + 1 * STEP, Species.LE);
        a01.add(FloatVector.fromMemorySegment(F, s, q + 2 * STEP, Species.LE))
                .intoMemorySegment(s, d + 2 * STEP, Species.LE);
        a11.add(FloatVector.fromMemorySegment(F, s, q + 3 * STEP, Species.LE))
                .intoMemorySegment(s, d + 3 * STEP, Species.LE);
        a02.add(FloatVector.fromMemorySegment(F, s, q + 4 * STEP, Species.LE))
                .intoMemorySegment(s, d + 4 * STEP, Species.LE);
        a12.add(FloatVector.fromMemorySegment(F, s, q + 5 * STEP, Species.LE))
                .intoMemorySegment(s, d + 5 * STEP, Species.LE);
        a03.add(FloatVector.fromMemorySegment(F, s, q + 6 * STEP, Species.LE))
                .intoMemorySegment(s, d + 6 * STEP, Species.LE);
        a13.add(FloatVector.fromMemorySegment(F, s, q + 7 * STEP, Species.LE))
                .intoMemorySegment(s, d + 7 * STEP, Species.LE);
    }
}
