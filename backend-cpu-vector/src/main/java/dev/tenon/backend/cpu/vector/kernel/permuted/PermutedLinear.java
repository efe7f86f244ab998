package dev.tenon.backend.cpu.vector.kernel.permuted;

import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;

/// Frame of the kernels that put activations into an order of their own, once for all rows.
///
/// Blocks of 256 weights are read 64 bytes at a time, as sixteen ints. A mask takes one level out of
/// each int, sixteen at once; no level moves to another lane. Activations, in float32, are put into the
/// order in which levels come out, once for all rows: a block is sixteen vectors of sixteen elements.
/// Where the mask leaves a level `2^k` times too large, the activation is made `2^k` times smaller,
/// which is exact. What a format adds to its scaled levels, such as minimums, is a vector of sixteen more
/// products a block, with sums of activations.
///
/// One token's levels need no conversion to float32 either. A level in the lower 23 bits of an int
/// becomes `2^23 + level` by setting the bits of `2^23`, and one multiply-add with the scale `d` and
/// `-2^23 d` makes `level * d` of it. That has no rounding: the scale of a block (11 bits), that of
/// a sub-block (7) and a level (6) fill 24 bits at most, so any way to multiply them gives the same.
///
/// A packed row of `b` blocks is `[8b, 16]` floats, the even vectors, then `[8b, 16]`, the odd
/// ones, then `[b, 16]`, the sums. Each of the three has sixteen strands, summed in ascending
/// order; in the end the strands are added in a tree. So bits depend neither on the width of
/// vectors nor on how many tokens or rows are computed together.
///
/// One or two tokens are multiplied with strands in the lanes of a vector, more of them one strand
/// after the other, with rows in lanes ([PermutedPanel]); for that the same is kept once more by
/// strands ([PermutedPacking]).
///
/// With vectors of sixteen floats each odd vector lies behind its even one, so that a kernel needs one
/// address for both.
///
/// Q8_0, whose blocks are 32 weights, has one even and one odd vector a block and no sums, which
/// is the order of `Strands`. It is packed for the sake of aligned loads, and of the panel.
///
/// The parts that are compiled by themselves call nothing but the Vector API: beyond C2's limit of
/// nodes it still inlines what the JDK asks it to, but no other method.
public abstract class PermutedLinear implements LinearKernel {
    /// Weights of a K format's block.
    static final int BLOCK = 256;
    /// Bytes of sixteen floats.
    static final int VECTOR = 64;
    /// Bytes of the floats that a vector of this machine holds.
    static final int LANE_BYTES = LANES * Float.BYTES;

    /// Bits of the float `2^23`, in which an int below `2^23` can be set as it is.
    static final IntVector UNIT = IntVector.broadcast(Species.I, 0x4B000000);

    /// What takes that `2^23` away again.
    static final FloatVector MINUS_UNIT = FloatVector.broadcast(Species.F, -0x1p23f);

    /// From so many tokens on, decoding a panel pays.
    private static final int PANEL_TOKENS = 3;
    /// Rows that advance together: as many streams through memory hide more of its latency than
    /// one.
    private static final int STREAMS = 4;
    /// Most weights of a row before it is the next row's turn: where they are not decoded to memory
    /// first, more of them spare calls.
    private static final int TURN = LANES == 16 ? 2048 : 1024;
    /// Most blocks of a row before it is the next row's turn.
    private static final int TURN_BLOCKS = 16;
    /// Where scales lie in scratch memory, behind the strands.
    private static final long SCALES = STREAMS * PermutedPanel.PAIR;
    /// Where decoded vectors lie in scratch memory, behind the scales and what loads of the last
    /// ones read too much.
    private static final long VALUES = SCALES + (TURN / BLOCK + 1) * VECTOR;

    private final String format;
    private final PermutedPacking packing;
    private final int block;
    private final int blockBytes;
    /// Pairs of an even and an odd vector of a block.
    private final int vectorPairs;
    private final int sums;
    /// Blocks of a row before it is the next row's turn.
    private final int turn;
    private final PermutedParts.Scales scales;
    private final PermutedParts.Dot dot;
    private final PermutedParts.Decode decode;
    private final PermutedParts.Numbers numbers;
    private final PermutedParts.Unpack unpack;
    /// Where the words of a block begin, and how many groups of four.
    private final int firstWord;
    private final int quads;
    /// Where the F16 numbers of a block begin, and how many there are.
    private final int firstF16;
    private final int f16Count;

    /// Creates a kernel.
    ///
    /// @param format format id
    /// @param packing order of the activations
    /// @param blockBytes bytes of a block
    /// @param parts the code that multiplies and decodes
    /// @param firstWord where the words of a block begin
    /// @param words how many it has, a multiple of 4
    /// @param firstF16 where the F16 numbers of a block begin
    /// @param f16Count how many it has
    PermutedLinear(
            String format,
            PermutedPacking packing,
            int blockBytes,
            PermutedParts parts,
            int firstWord,
            int words,
            int firstF16,
            int f16Count) {
        this.format = format;
        this.packing = packing;
        this.block = packing.block;
        this.blockBytes = blockBytes;
        this.vectorPairs = packing.vectorPairs;
        this.sums = packing.sums;
        this.turn = Math.min(TURN / block, TURN_BLOCKS);
        this.scales = parts.scales();
        this.dot = parts.dot();
        this.decode = parts.decode();
        this.numbers = parts.numbers();
        this.unpack = parts.unpack();
        this.firstWord = firstWord;
        this.quads = words / 4;
        this.firstF16 = firstF16;
        this.f16Count = f16Count;
    }

    @Override
    public final int panelRows() {
        return 64;
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
        return packedBytes(n, 1);
    }

    @Override
    public final long packedBytes(int n, int tokens) {
        return packing.bytes(n, tokens);
    }

    /// {@return bytes of a panel's words, numbers, and of the strands of a lane}
    private long panelBytes(int blocks) {
        long strands = 2L * vectorPairs * blocks * PermutedPanel.WIDTH;
        return (wordVectors() + 16L * sums) * wordBytes(blocks) + strands + wordVectors() * LANE_BYTES;
    }

    /// {@return bytes of a word, or a number, of all blocks: a vector more than needed, because
    /// first-level caches hold few lines that lie a power of two apart}
    private static long wordBytes(int blocks) {
        return (long) blocks * PermutedPanel.WIDTH + LANE_BYTES;
    }

    private long wordVectors() {
        return 4L * quads + f16Count;
    }

    @Override
    public final long scratchBytes(int n, int tokens) {
        long row = VALUES + packing.rowBytes(TURN);
        return tokens < PANEL_TOKENS ? row : Math.max(row, PermutedPanel.SUMS + panelBytes(n / block));
    }

    @Override
    public final void pack(HostFloats x, int xOffset, int n, MemorySegment packed) {
        packing.pack(x.array(), xOffset, n, packed, 0);
    }

    @Override
    public final void pack(HostFloats x, int xOffset, int n, MemorySegment packed, int token) {
        packing.pack(x.array(), xOffset, n, packed, token);
    }

    @Override
    public final void run(LinearCall call) {
        MemorySegment weights = call.weights;
        long rowBytes = call.rowBytes;
        int firstRow = call.firstRow;
        int rows = call.rows;
        int n = call.n;
        int tokens = call.tokens;
        float[] out = call.out.array();
        int outOffset = call.outOffset;
        int outStride = call.outStride;
        MemorySegment packed = call.packed;
        MemorySegment scratch = call.scratch;
        long at = Memory.at(weights, firstRow * rowBytes, rows * rowBytes);
        long x = Memory.at(packed, 0, packedBytes(n, tokens));
        long s = Memory.at(scratch, 0, scratchBytes(n, tokens));
        if (tokens < PANEL_TOKENS) {
            int each = rows / STREAMS;
            int done = each * STREAMS;
            for (int t = 0; t < tokens; t++) {
                int o = outOffset + t * outStride;
                long xt = x + t * packing.rowBytes(n);
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
        for (int r = 0; r < rows; r += PermutedPanel.ROWS) {
            int count = Math.min(PermutedPanel.ROWS, rows - r);
            long words = s + PermutedPanel.SUMS;
            words(weights, at + r * rowBytes, rowBytes, count, n / block, scratch, words);
            PermutedPanel.begin(scratch, s);
            for (int t = 0; t < tokens; t += PermutedPanel.CHUNK) {
                int chunk = Math.min(PermutedPanel.CHUNK, tokens - t);
                int held = packing.held(packed, n, t);
                long strands = x + packing.chunk(n, t) + held * packing.rowBytes(n);
                panel(scratch, s, words, n / block, packed, strands, held, chunk);
                // Without sums, their strands are 0.
                float plus = sums == 0 ? 0f : -0f;
                PermutedPanel.store(scratch, s, plus, chunk, count, out, outOffset + r + t * outStride, outStride);
            }
        }
    }

    /// Transposes the rows of a panel, and reads their scales; one that lacks rows gets the last
    /// one again.
    private void words(
            MemorySegment weights, long at, long rowBytes, int rows, int blocks, MemorySegment scratch, long to) {
        long width = PermutedPanel.WIDTH;
        long apart = wordBytes(blocks);
        long first = to + wordVectors() * apart;
        // Behind the strands, a block as it is copied.
        long block = first + 16L * sums * apart + 2L * vectorPairs * blocks * width;
        for (int r = 0; r < PermutedPanel.ROWS; r += LANES) {
            for (int b = 0; b < blocks; b++) {
                long words = to + b * width + 4L * r;
                long p = at + (long) b * blockBytes;
                for (int lane = 0; lane < LANES; lane += 4) {
                    PermutedWords.copy(
                            weights,
                            p + firstWord,
                            rowBytes,
                            r + lane,
                            rows - 1,
                            quads,
                            firstF16 - firstWord,
                            f16Count,
                            scratch,
                            block,
                            lane);
                }
                PermutedWords.transpose(scratch, block, quads, f16Count, words, apart);
                if (sums > 0) {
                    numbers.write(scratch, words, first + b * width + 4L * r, apart);
                }
            }
        }
    }

    /// Multiplies the rows of a panel, one lane of the strands after the other.
    private void panel(
            MemorySegment scratch,
            long s,
            long words,
            int blocks,
            MemorySegment packed,
            long x,
            long held,
            int tokens) {
        long width = PermutedPanel.WIDTH;
        int length = vectorPairs * blocks;
        long apart = wordBytes(blocks);
        long numbersAt = words + wordVectors() * apart;
        long even = numbersAt + 16 * sums * apart;
        long odd = even + length * width;
        for (int i = 0; i < 16; i++) {
            int lane = PermutedPanel.lane(i);
            unpack.write(scratch, lane, words, blocks, numbersAt, apart, even, odd);
            long xe = x + 4 * held * lane * length;
            long xo = xe + 64 * held * length;
            long xs = x + 4 * held * (32L * length + (long) lane * sums * blocks);
            long rest = numbersAt + lane * apart;
            PermutedPanel.lane(i, scratch, s, even, rest, packed, xe, xo, xs, length, sums * blocks, tokens);
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
        long odd = packing.odd(n);
        long sumsAt = 2L * vectorPairs * blocks * VECTOR;
        for (int r = 0; r < each; r++) {
            PermutedPanel.clear(scratch, s, streams);
            for (int b = 0; b < blocks; b += turn) {
                int count = Math.min(turn, blocks - b);
                long even = x + (long) vectorPairs * b * packing.apart;
                long rest = x + sumsAt + (long) b * VECTOR;
                long p = at + r * rowBytes + (long) b * blockBytes;
                if (LANES == 16) {
                    dot.add(weights, p, each * rowBytes, streams, count, scratch, s, packed, even, rest);
                    continue;
                }
                for (int stream = 0; stream < streams; stream++) {
                    long strands = s + stream * PermutedPanel.PAIR;
                    long values = s + VALUES;
                    decode(weights, p + stream * each * rowBytes, count, scratch, s + SCALES, values);
                    int vectors = vectorPairs * count;
                    long next = (long) vectors * VECTOR;
                    PermutedPanel.dot(scratch, values, strands, packed, even, vectors);
                    PermutedPanel.dot(scratch, values + next, strands + VECTOR, packed, even + odd, vectors);
                    PermutedPanel.dot(scratch, values + 2 * next, strands + 2 * VECTOR, packed, rest, sums * count);
                }
            }
            if (LANES == 16 && streams == STREAMS) {
                PermutedPanel.sums(scratch, s, out, outOffset + r, each);
                continue;
            }
            for (int stream = 0; stream < streams; stream++) {
                out[outOffset + stream * each + r] = PermutedPanel.sum(scratch, s + stream * PermutedPanel.PAIR);
            }
        }
    }

    /// Decodes blocks: even vectors, odd ones, then scales.
    private void decode(MemorySegment weights, long at, int blocks, MemorySegment scratch, long numbers, long to) {
        for (int b = 0; b < blocks; b += turn) {
            int count = Math.min(turn, blocks - b);
            long p = at + (long) b * blockBytes;
            scales.read(weights, p, count, scratch, numbers);
            long even = to + (long) vectorPairs * b * VECTOR;
            long odd = even + (long) vectorPairs * blocks * VECTOR;
            for (int part = 0; part < VECTOR; part += LANE_BYTES) {
                decode.write(weights, p, count, scratch, numbers, even + part, odd + part, part);
            }
            PermutedPanel.copy(scratch, numbers, to + (2L * vectorPairs * blocks + b) * VECTOR, sums * count);
        }
    }
}
