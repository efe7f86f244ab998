package dev.tenon.backend.cpu.vector.kernel.permuted;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;
import static dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear.LANE_BYTES;
import static dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear.VECTOR;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;

/// Multiplies decoded weight rows with packed activations, in the order of [PermutedLinear].
///
/// A lane belongs to a row here, not to a strand: decoded is one strand at a time, its elements one
/// after the other, each for all rows. A tile ([PermutedTile]) keeps an accumulator for each pair
/// of some rows and a token in a register and works on one strand at a time: it loads the rows'
/// elements and spreads the token's. So it reads half of the bytes that it would read with strands
/// in lanes, the strand stays in the first-level cache for all tokens, and no sum runs across
/// lanes.
///
/// Everything is aligned to cache lines, which arrays of the JVM are not: a load of 64 bytes from
/// those takes two.
final class PermutedPanel {
    /// Vectors of rows in a tile: narrow machines have half the registers.
    private static final int UNITS = LANES == 16 ? 4 : 2;
    /// Rows of a panel, and of a tile.
    static final int ROWS = UNITS * LANES;
    /// Bytes of a number for each of the rows.
    static final int WIDTH = UNITS * LANE_BYTES;
    /// Tokens of a tile; their strands lie interleaved.
    static final int TOKENS = 4;
    /// Tokens that take their turn with a strand; theirs of one kind lie together. Whole tiles.
    static final int CHUNK = 256;
    /// Bytes of the strands of a row and a token where strands lie in lanes.
    static final long PAIR = 3 * VECTOR;
    /// Bytes of the sums of a tile.
    private static final int TILE = TOKENS * WIDTH;
    /// Where the levels of the tree lie, behind a tile of nothing, one of odd strands and one of
    /// sums.
    private static final int LEVELS = 3 * TILE;
    /// Bytes of the sums of a chunk.
    private static final int LEVEL = CHUNK * WIDTH;
    /// Bytes of sums: of a tree over sixteen strands, five sums are open at once at most.
    static final int SUMS = LEVELS + 5 * LEVEL;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(Species.LE);
    /// Lanes of the upper part, and of odd quarters.
    private static final VectorMask<Float> UPPER = VectorMask.fromLong(F, 0xFF00 & (1L << LANES) - 1);
    private static final VectorMask<Float> ODD = VectorMask.fromLong(F, 0xF0F0 & (1L << LANES) - 1);
    private static final VectorShuffle<Float> ACROSS_8 = across(8);
    private static final VectorShuffle<Float> ACROSS_4 = across(4);
    private static final VectorShuffle<Float> ACROSS_2 = across(2);
    private static final VectorShuffle<Float> ACROSS_1 = across(1);

    private PermutedPanel() {}

    private static VectorShuffle<Float> across(int distance) {
        return VectorShuffle.fromOp(F, i -> (i ^ distance) % LANES);
    }

    /// Sets strands to 0.
    ///
    /// @param scratch where they are
    /// @param at where the first pair's start
    /// @param pairs number of pairs
    static void clear(MemorySegment scratch, long at, int pairs) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        FloatVector zero = FloatVector.zero(F);
        if (LANES == 16) {
            for (int pair = 0; pair < pairs; pair++) {
                long p = at + pair * PAIR & Memory.ADDRESS;
                zero.intoMemorySegment(s, p, Species.LE);
                zero.intoMemorySegment(s, p + VECTOR, Species.LE);
                zero.intoMemorySegment(s, p + 2 * VECTOR, Species.LE);
            }
            return;
        }
        for (long i = 0; i < pairs * PAIR; i += LANE_BYTES) {
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
            for (int part = 0; part < VECTOR; part += LANE_BYTES) {
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
        for (int part = 0; part < VECTOR; part += LANE_BYTES) {
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

    /// Adds up the strands of four pairs as [#sum] does, those of all four in the lanes of a vector
    /// together. Only for vectors of sixteen floats.
    ///
    /// @param scratch where they are; what is there is lost
    /// @param at where the first pair's start
    /// @param out receives the sums
    /// @param to index of the first one
    /// @param apart elements from one to the next
    static void sums(MemorySegment scratch, long at, float[] out, int to, int apart) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = at & Memory.ADDRESS;
        FloatVector a = three(s, p);
        FloatVector b = three(s, p + PAIR);
        FloatVector c = three(s, p + 2 * PAIR);
        FloatVector d = three(s, p + 3 * PAIR);
        // First 8 lanes each of a, b and of c, d; then 4 each of a, c, b, d.
        FloatVector ab = a.blend(b, UPPER).add(b.blend(a, UPPER).rearrange(ACROSS_8));
        FloatVector cd = c.blend(d, UPPER).add(d.blend(c, UPPER).rearrange(ACROSS_8));
        FloatVector all = ab.blend(cd, ODD).add(cd.blend(ab, ODD).rearrange(ACROSS_4));
        all = all.add(all.rearrange(ACROSS_2));
        all.add(all.rearrange(ACROSS_1)).intoMemorySegment(s, p, Species.LE);
        out[to] = s.get(FLOAT, p);
        out[to + apart] = s.get(FLOAT, p + 32);
        out[to + 2 * apart] = s.get(FLOAT, p + 16);
        out[to + 3 * apart] = s.get(FLOAT, p + 48);
    }

    @ForceInline
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
        for (int i = 0; i < TILE; i += LANE_BYTES) {
            v.intoMemorySegment(s, sums + i, Species.LE);
        }
    }

    /// {@return where the sums of even strands of all tokens go}
    ///
    /// @param sums where [#SUMS] bytes are
    /// @param n how many lanes were before
    static long sums(long sums, int n) {
        return sums + LEVELS + (long) Integer.bitCount(n) * LEVEL;
    }

    /// {@return where the sums of odd strands of a tile go}
    ///
    /// @param sums where [#SUMS] bytes are
    static long odd(long sums) {
        return sums + TILE;
    }

    /// {@return where those of strands of sums go}
    ///
    /// @param sums where [#SUMS] bytes are
    static long rest(long sums) {
        return sums + 2 * TILE;
    }

    /// Adds up what the strands of a tile came to, even and odd, then the sums, and then what the tree adds to this
    /// lane. Called for lanes in the order of [#lane(int)].
    ///
    /// @param scratch memory of sums
    /// @param sums where [#SUMS] bytes are
    /// @param n how many lanes were before
    /// @param token the first token of the tile
    /// @param rest whether there are sums
    static void tile(MemorySegment scratch, long sums, int n, int token, boolean rest) {
        long even = sums(sums, n) + (long) token * WIDTH;
        // Where the sum of this lane and the one before goes, if the tree adds both.
        long to = (n & 1) == 1 ? even - LEVEL : even;
        add(scratch, even, odd(sums), rest ? rest(sums) : sums, to == even ? sums : to, to, TILE);
    }

    /// Adds lanes in a tree, as far as this one completes parts of it.
    ///
    /// @param scratch memory of sums
    /// @param sums where [#SUMS] bytes are
    /// @param n how many lanes were before
    /// @param tokens number of tokens
    static void tree(MemorySegment scratch, long sums, int n, int tokens) {
        long to = sums(sums, n) - LEVEL;
        for (int k = n >> 1; (n & 1) == 1 && (k & 1) == 1; k >>= 1) {
            add(scratch, to - LEVEL, to, tokens * WIDTH);
            to -= LEVEL;
        }
    }

    /// {@return the lane that is the next one of the tree: 0, 8, 4, 12, 2, and so on}
    ///
    /// @param n how many were before
    static int lane(int n) {
        return Integer.reverse(n) >>> 28;
    }

    /// Adds up the sums of a tile: even strands, odd ones, sums, and what was before. The number of
    /// bytes is a multiple of two vectors.
    private static void add(MemorySegment scratch, long even, long odd, long rest, long before, long to, int bytes) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long a = even & Memory.ADDRESS;
        long b = odd & Memory.ADDRESS;
        long c = rest & Memory.ADDRESS;
        long d = before & Memory.ADDRESS;
        long e = to & Memory.ADDRESS;
        int i = 0;
        do {
            long k = i & 0x3FFFFFFF;
            FloatVector.fromMemorySegment(F, s, a + k, Species.LE)
                    .add(FloatVector.fromMemorySegment(F, s, b + k, Species.LE))
                    .add(FloatVector.fromMemorySegment(F, s, c + k, Species.LE))
                    .add(FloatVector.fromMemorySegment(F, s, d + k, Species.LE))
                    .intoMemorySegment(s, e + k, Species.LE);
            FloatVector.fromMemorySegment(F, s, a + k + LANE_BYTES, Species.LE)
                    .add(FloatVector.fromMemorySegment(F, s, b + k + LANE_BYTES, Species.LE))
                    .add(FloatVector.fromMemorySegment(F, s, c + k + LANE_BYTES, Species.LE))
                    .add(FloatVector.fromMemorySegment(F, s, d + k + LANE_BYTES, Species.LE))
                    .intoMemorySegment(s, e + k + LANE_BYTES, Species.LE);
            i += 2 * LANE_BYTES;
        } while (i != bytes);
    }

    /// Adds sums to others; the number of bytes is a multiple of two vectors.
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
            FloatVector.fromMemorySegment(F, s, p + LANE_BYTES, Species.LE)
                    .add(FloatVector.fromMemorySegment(F, s, q + LANE_BYTES, Species.LE))
                    .intoMemorySegment(s, p + LANE_BYTES, Species.LE);
            p += 2 * LANE_BYTES;
            q += 2 * LANE_BYTES;
        } while (p != end);
    }

    /// Copies what all lanes came to for a token.
    ///
    /// @param scratch its memory
    /// @param sums as for a lane
    /// @param token which token
    /// @param plus is added to each
    /// @param out receives the sums of rows
    /// @param at index of the first
    /// @param rows number of rows
    static void store(MemorySegment scratch, long sums, int token, float plus, float[] out, int at, int rows) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long from = sums + LEVELS + (long) token * WIDTH;
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
}
