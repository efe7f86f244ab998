package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.device.PackedKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/// Frame of the kernels that put activations into an order of their own, once for all rows.
///
/// Blocks of 256 weights are read 64 bytes at a time, as sixteen ints. A mask takes one level
/// out of each int, sixteen at once; no level moves to another lane.
/// Activations, in float32, are put into the order in which levels come out, once for all rows:
/// a block is sixteen vectors of sixteen elements. Where the mask leaves a level `2^k` times
/// too large, the activation is made `2^k` times smaller, which is exact. What a format adds to
/// its scaled levels, such as minima, is a vector of sixteen more products a block, with sums
/// of activations.
///
/// A packed row of `b` blocks is `[8b, 16]` floats, the even vectors, then `[8b, 16]`, the odd
/// ones, then `[b, 16]`, the sums. Each of the three has sixteen strands, summed in ascending
/// order; in the end the strands are added in a tree. So bits depend neither on the width of
/// vectors nor on how many tokens or rows are computed together.
///
/// Q8_0, whose blocks are 32 weights, has one even and one odd vector a block and no sums, which
/// is the order of [Strands]. It is packed for the sake of aligned loads, and of the panel.
///
/// The parts that are compiled by themselves call nothing but the Vector API: beyond C2's limit
/// of nodes it still inlines what the JDK asks it to, but no method of ours.
public abstract class PermutedLinear implements PackedKernel {
    /// Weights of a K format's block.
    static final int BLOCK = 256;
    /// Bytes of sixteen floats.
    static final int VECTOR = 64;
    /// Bytes of the floats that a vector of this machine holds.
    static final int STEP = LANES * Float.BYTES;

    /// From so many tokens on, decoding a panel pays.
    private static final int PANEL_TOKENS = 3;
    /// Rows that advance together: as many streams through memory hide more of its latency than
    /// one.
    private static final int STREAMS = 4;
    /// Most weights of a row before it is the next row's turn.
    private static final int TURN = 1024;
    /// Most blocks of a row before it is the next row's turn.
    private static final int TURN_BLOCKS = 16;
    /// Where scales lie in scratch memory, behind the strands.
    private static final long SCALES = PermutedPanel.STRANDS;
    /// Where the panel lies in scratch memory, behind the scales and what loads of the last
    /// ones read too much.
    private static final long PANEL = SCALES + (TURN / BLOCK + 1) * VECTOR;

    /// Reads scales.
    interface Scales {
        /// Writes sixteen numbers a block: what its levels and what its sums are multiplied with.
        ///
        /// @param weights the matrix
        /// @param at where the first block starts
        /// @param blocks how many
        /// @param scratch memory for the numbers
        /// @param to where they start
        void read(MemorySegment weights, long at, int blocks, MemorySegment scratch, long to);
    }

    /// Multiplies levels with activations, all in one, on machines with vectors of sixteen floats.
    interface Dot {
        /// Adds the products of some blocks to the strands of a row and a token.
        ///
        /// @param weights the matrix
        /// @param at where the first block starts
        /// @param blocks how many
        /// @param scratch memory of the strands
        /// @param strands where they are
        /// @param packed activations
        /// @param even where the first even vector is
        /// @param odd where the first odd vector is
        /// @param sums where the first vector of sums is
        void add(
                MemorySegment weights,
                long at,
                int blocks,
                MemorySegment scratch,
                long strands,
                MemorySegment packed,
                long even,
                long odd,
                long sums);
    }

    /// Decodes levels.
    interface Decode {
        /// Writes levels times scales, as [Dot] multiplies them with activations.
        ///
        /// @param weights the matrix
        /// @param at where the first block starts
        /// @param blocks how many
        /// @param scratch memory of scales and values
        /// @param scales where the blocks' numbers are
        /// @param even where the first even vector goes
        /// @param odd where the first odd vector goes
        /// @param apart bytes from one even, or odd, vector to the next
        /// @param part bytes from a vector of sixteen floats to the part of it that is
        ///     computed; `even` and `odd` have it added already
        void write(
                MemorySegment weights,
                long at,
                int blocks,
                MemorySegment scratch,
                long scales,
                long even,
                long odd,
                long apart,
                long part);
    }

    private final String format;
    private final int block;
    private final int blockBytes;
    /// Even vectors of a block, and as many odd ones.
    private final int half;
    private final int sums;
    /// Blocks of a row before it is the next row's turn.
    private final int turn;
    private final int[] elements;
    private final float[] factors;
    private final Scales scales;
    private final Dot dot;
    private final Decode decode;

    /// Creates a kernel.
    ///
    /// @param format format id
    /// @param block weights of a block, a multiple of 32
    /// @param blockBytes bytes of a block
    /// @param sums vectors of sums that a block has, 0 or 1
    /// @param scales reads scales
    /// @param dot multiplies
    /// @param decode decodes
    PermutedLinear(String format, int block, int blockBytes, int sums, Scales scales, Dot dot, Decode decode) {
        this.format = format;
        this.block = block;
        this.blockBytes = blockBytes;
        this.half = block / 32;
        this.sums = sums;
        this.turn = Math.min(TURN / block, TURN_BLOCKS);
        this.elements = new int[block];
        this.factors = new float[block];
        this.scales = scales;
        this.dot = dot;
        this.decode = decode;
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
        throw new IllegalStateException(format + " has no sums.");
    }

    @Override
    public final String name() {
        return format.toLowerCase(Locale.ROOT) + ".vector" + Species.BITS;
    }

    @Override
    public final String format() {
        return format;
    }

    @Override
    public final boolean accepts(int n) {
        return n % block == 0;
    }

    @Override
    public final long packedBytes(int n) {
        return (long) n / block * (2 * half + sums) * VECTOR;
    }

    @Override
    public final long scratchBytes(int n, int tokens) {
        return PANEL + Math.max(packedBytes(TURN), tokens < PANEL_TOKENS ? 0 : PermutedPanel.ROWS * packedBytes(n));
    }

    @Override
    public void pack(float[] x, int xOffset, int n, MemorySegment packed) {
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        long to = Memory.at(packed, 0, packedBytes(n));
        int blocks = n / block;
        long odd = (long) half * blocks * VECTOR;
        for (int b = 0; b < blocks; b++) {
            int at = xOffset + b * block;
            for (int v = 0; v < 2 * half; v++) {
                long vector = to + (v & 1) * odd + ((long) b * half + (v >> 1)) * VECTOR & Memory.ADDRESS;
                for (int i = 16 * v; i < 16 * v + 16; i++) {
                    float value = x[at + elements[i]] * factors[i];
                    m.set(ValueLayout.JAVA_FLOAT_UNALIGNED, vector + 4 * (i & 15), value);
                }
            }
            long rest = to + 2 * odd + (long) b * VECTOR & Memory.ADDRESS;
            for (int i = 0; i < 16 * sums; i++) {
                m.set(ValueLayout.JAVA_FLOAT_UNALIGNED, rest + 4 * i, sum(x, at, i));
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

    @Override
    public final void run(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            float[] out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        long at = Memory.at(weights, firstRow * rowBytes, rows * rowBytes);
        long stride = packedBytes(n);
        long x = Memory.at(packed, 0, tokens * stride);
        long s = Memory.at(scratch, 0, scratchBytes(n, tokens));
        if (tokens < PANEL_TOKENS) {
            int each = rows / STREAMS;
            int done = each * STREAMS;
            for (int t = 0; t < tokens; t++) {
                int o = outOffset + t * outStride;
                long xt = x + t * stride;
                streams(weights, at, rowBytes, each, STREAMS, n, packed, xt, out, o, scratch, s);
                streams(
                        weights,
                        at + done * rowBytes,
                        rowBytes,
                        rows - done,
                        1,
                        n,
                        packed,
                        xt,
                        out,
                        o + done,
                        scratch,
                        s);
            }
            return;
        }
        int blocks = n / block;
        int vectors = half * blocks;
        for (int r = 0; r < rows; r += PermutedPanel.ROWS) {
            int count = Math.min(PermutedPanel.ROWS, rows - r);
            for (int i = 0; i < PermutedPanel.padded(count); i++) {
                long row = at + Math.min(r + i, rows - 1) * rowBytes;
                long to = s + PANEL + PermutedPanel.row(i, 2 * vectors + sums * blocks);
                decode(weights, row, blocks, scratch, s + SCALES, to, PermutedPanel.APART);
            }
            int o = outOffset + r;
            PermutedPanel.multiply(
                    scratch, s, s + PANEL, count, packed, x, vectors, sums * blocks, tokens, out, o, outStride);
        }
    }

    /// Multiplies `streams * each` rows, of which those `each` apart advance together.
    private void streams(
            MemorySegment weights,
            long at,
            long rowBytes,
            int each,
            int streams,
            int n,
            MemorySegment packed,
            long x,
            float[] out,
            int outOffset,
            MemorySegment scratch,
            long s) {
        int blocks = n / block;
        long odd = (long) half * blocks * VECTOR;
        for (int r = 0; r < each; r++) {
            PermutedPanel.clear(scratch, s, streams);
            for (int b = 0; b < blocks; b += turn) {
                int count = Math.min(turn, blocks - b);
                long even = x + (long) half * b * VECTOR;
                long rest = x + 2 * odd + (long) b * VECTOR;
                for (int stream = 0; stream < streams; stream++) {
                    long p = at + (r + (long) stream * each) * rowBytes + (long) b * blockBytes;
                    long strands = s + stream * PermutedPanel.PAIR;
                    if (LANES == 16) {
                        dot.add(weights, p, count, scratch, strands, packed, even, even + odd, rest);
                    } else {
                        long values = s + PANEL;
                        decode(weights, p, count, scratch, s + SCALES, values, VECTOR);
                        int vectors = half * count;
                        long next = (long) vectors * VECTOR;
                        PermutedPanel.dot(scratch, values, strands, packed, even, vectors);
                        PermutedPanel.dot(scratch, values + next, strands + VECTOR, packed, even + odd, vectors);
                        PermutedPanel.dot(scratch, values + 2 * next, strands + 2 * VECTOR, packed, rest, sums * count);
                    }
                }
            }
            for (int stream = 0; stream < streams; stream++) {
                out[outOffset + stream * each + r] = PermutedPanel.sum(scratch, s + stream * PermutedPanel.PAIR);
            }
        }
    }

    /// Decodes blocks: even vectors, odd ones, then scales.
    private void decode(
            MemorySegment weights, long at, int blocks, MemorySegment scratch, long numbers, long to, long apart) {
        for (int b = 0; b < blocks; b += turn) {
            int count = Math.min(turn, blocks - b);
            long p = at + (long) b * blockBytes;
            scales.read(weights, p, count, scratch, numbers);
            long even = to + (long) half * b * apart;
            long odd = even + (long) half * blocks * apart;
            for (int part = 0; part < VECTOR; part += STEP) {
                decode.write(weights, p, count, scratch, numbers, even + part, odd + part, apart, part);
            }
            PermutedPanel.copy(scratch, numbers, to + (2L * half * blocks + b) * apart, apart, sums * count);
        }
    }
}
