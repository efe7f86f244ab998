package dev.tenon.backend.cpu.vector.kernel.permuted;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;
import static dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear.VECTOR;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;

/// Packs activations for a [PermutedLinear], whose documentation says what the vectors of a row
/// are.
///
/// A row is kept twice: by vectors for one or two tokens, and by strands for more. Strands are
/// `[16, 8b]`, `[16, 8b]`, and `[16, b]` for `b` blocks, the tokens of a tile interleaved, and each
/// strand of up to [PermutedPanel#CHUNK] tokens in one piece: read element by element, a row's
/// strands would be a few lines here and there, which no processor fetches ahead. So packed rows
/// share their memory: that of `c` rows is `c` rows of vectors, then `[16, c / t, 8b, t]` with
/// tiles of `t` tokens, the same for the odd ones, and `[16, c / t, b, t]`. Whoever packs says
/// which row of which memory it is.
class PermutedPacking {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(Species.LE);

    /// Weights of a block.
    final int block;
    /// Pairs of an even and an odd vector of a block.
    final int vectorPairs;
    /// Vectors of sums that a block has, 0 or 1.
    final int sums;
    /// Bytes from an even vector to the next one.
    final int apart;

    private final int[] elements;
    private final float[] factors;

    /// Creates an order, which [#put] fills.
    ///
    /// @param block weights of a block, a multiple of 32
    /// @param sums vectors of sums that a block has, 0 or 1
    PermutedPacking(int block, int sums) {
        this(block, sums, false);
    }

    /// Creates an order, which [#put] fills.
    ///
    /// @param block weights of a block, a multiple of 32
    /// @param sums vectors of sums that a block has, 0 or 1
    /// @param pairs whether each odd vector follows its even one, instead of all odd ones all even
    ///     ones
    PermutedPacking(int block, int sums, boolean pairs) {
        this.block = block;
        this.vectorPairs = block / 32;
        this.sums = sums;
        this.apart = pairs ? 2 * VECTOR : VECTOR;
        this.elements = new int[block];
        this.factors = new float[block];
    }

    /// Says where an element of a block goes; the constructor of each format does so for all of
    /// them.
    ///
    /// @param element which of the block's
    /// @param vector which of the block's vectors
    /// @param lane which of its lanes
    /// @param factor what the activation is multiplied with, a power of two
    final void put(int element, int vector, int lane, float factor) {
        elements[16 * vector + lane] = element;
        factors[16 * vector + lane] = factor;
    }

    /// {@return what a number of a block is multiplied with: a sum of activations}
    ///
    /// @param x activations
    /// @param at index of the block's first
    /// @param number which of the sixteen
    float sum(float[] x, int at, int number) {
        throw new IllegalStateException("Blocks of " + block + " have no sums.");
    }

    /// {@return bytes of some rows}
    ///
    /// @param n elements in a row
    /// @param tokens how many rows
    final long bytes(int n, int tokens) {
        return (tokens + PermutedPanel.TOKENS - 1L) / PermutedPanel.TOKENS * PermutedPanel.TOKENS * bothBytes(n);
    }

    /// {@return bytes of a row in both of its orders}
    private long bothBytes(int n) {
        return 2 * rowBytes(n);
    }

    /// {@return bytes of a row in one of its two orders}
    ///
    /// @param n elements in it
    final long rowBytes(int n) {
        return (long) n / block * (2 * vectorPairs + sums) * VECTOR;
    }

    /// {@return where the memory of the rows begins that lie together with a row}
    ///
    /// @param n elements in a row
    /// @param token which row
    final long chunk(int n, int token) {
        return token / PermutedPanel.CHUNK * PermutedPanel.CHUNK * bothBytes(n);
    }

    /// {@return how many rows lie together with a row}
    ///
    /// @param packed memory of all rows
    /// @param n elements in a row
    /// @param token which row
    final int held(MemorySegment packed, int n, int token) {
        long from = token - token % PermutedPanel.CHUNK;
        return (int) Math.min(PermutedPanel.CHUNK, packed.byteSize() / bothBytes(n) - from);
    }

    /// {@return bytes from the first even vector of a row to its first odd one}
    ///
    /// @param n elements in it
    final long odd(int n) {
        return apart == VECTOR ? (long) n / block * vectorPairs * VECTOR : VECTOR;
    }

    /// Packs a row.
    ///
    /// @param x holds the row
    /// @param xOffset index of its first element
    /// @param n elements
    /// @param packed memory of all rows
    /// @param token which row
    final void pack(float[] x, int xOffset, int n, MemorySegment packed, int token) {
        int held = held(packed, n, token);
        long at = Memory.at(packed, 0, bytes(n, token + 1)) + chunk(n, token);
        int t = token % PermutedPanel.CHUNK;
        int blocks = n / block;
        int length = vectorPairs * blocks;
        long even = at + t * rowBytes(n);
        long kind = (long) length * VECTOR;
        long odd = even + odd(n);
        long rest = even + 2 * kind;
        permute(x, xOffset, blocks, packed, even, odd, rest);
        long strands = at + held * rowBytes(n);
        strands(packed, even, apart, strands, length, held, t);
        strands(packed, odd, apart, strands + held * kind, length, held, t);
        strands(packed, rest, VECTOR, strands + 2 * held * kind, sums * blocks, held, t);
    }

    /// Writes the vectors of a row.
    ///
    /// @param x holds the row
    /// @param xOffset index of its first element
    /// @param blocks how many blocks
    /// @param packed receives vectors
    /// @param even where the first even one goes
    /// @param odd where the first odd one goes
    /// @param rest where the first vector of sums goes
    void permute(float[] x, int xOffset, int blocks, MemorySegment packed, long even, long odd, long rest) {
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        for (int b = 0; b < blocks; b++) {
            int at = xOffset + b * block;
            for (int v = 0; v < 2 * vectorPairs; v++) {
                long vector = ((v & 1) == 0 ? even : odd) + ((long) b * vectorPairs + (v >> 1)) * apart;
                for (int i = 0; i < 16; i += LANES) {
                    FloatVector.fromArray(F, x, at, elements, 16 * v + i)
                            .mul(FloatVector.fromArray(F, factors, 16 * v + i))
                            .intoMemorySegment(m, vector + 4 * i & Memory.ADDRESS, Species.LE);
                }
            }
            long number = rest + (long) b * VECTOR & Memory.ADDRESS;
            for (int i = 0; i < 16 * sums; i++) {
                m.set(ValueLayout.JAVA_FLOAT_UNALIGNED, number + 4 * i, sum(x, at, i));
            }
        }
    }

    /// Copies vectors of one kind: the first lane of all of them, then the second, and so on.
    ///
    /// @param packed memory of both
    /// @param from where the first vector is
    /// @param next bytes from a vector to the next one
    /// @param to where all rows' strands of that kind are
    /// @param count how many vectors
    /// @param held how many rows lie together
    /// @param t which of them it is
    private static void strands(MemorySegment packed, long from, int next, long to, int count, int held, int t) {
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        int tile = PermutedPanel.TOKENS;
        long first = to + 4L * (t / tile * tile * count + t % tile);
        long strand = 4L * held * count;
        // Lanes are so far apart that first-level caches hold few of their lines at once.
        for (int lane = 0; lane < 16; lane++) {
            long vector = from + 4L * lane;
            long at = first + lane * strand;
            for (int i = 0; i < count; i++) {
                int value = m.get(INT, vector + (long) i * next & Memory.ADDRESS);
                m.set(INT, at + 4L * tile * i & Memory.ADDRESS, value);
            }
        }
    }

    /// {@return the sum of some activations, in ascending order}
    ///
    /// @param x activations
    /// @param from index of the first
    /// @param count how many
    static float total(float[] x, int from, int count) {
        float sum = 0;
        for (int i = 0; i < count; i++) {
            sum += x[from + i];
        }
        return sum;
    }
}
