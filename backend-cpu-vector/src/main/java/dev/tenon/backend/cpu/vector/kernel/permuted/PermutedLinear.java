package dev.tenon.backend.cpu.vector.kernel.permuted;

import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.ForceInline;
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
    private final PermutedBlock parts;
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

    /// Creates a kernel.
    ///
    /// @param format format id
    /// @param packing order of the activations
    /// @param parts where the parts of a block are
    /// @param code the code that multiplies and decodes
    PermutedLinear(String format, PermutedPacking packing, PermutedBlock parts, PermutedParts code) {
        this.format = format;
        this.packing = packing;
        this.block = packing.block;
        this.parts = parts;
        this.vectorPairs = packing.vectorPairs;
        this.sums = packing.sums;
        this.turn = Math.min(TURN / block, TURN_BLOCKS);
        this.scales = code.scales();
        this.dot = code.dot();
        this.decode = code.decode();
        this.numbers = code.numbers();
        this.unpack = code.unpack();
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
    static long wordBytes(int blocks) {
        return (long) blocks * PermutedPanel.WIDTH + LANE_BYTES;
    }

    private long wordVectors() {
        return (long) parts.words() + parts.f16Count();
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

    /// {@return bytes from one of the rows that advance together to the next}
    ///
    /// @param call all rows
    @ForceInline
    static long apart(LinearCall call) {
        return call.rows / STREAMS * call.rowBytes;
    }

    @Override
    public final void run(LinearCall call) {
        int rows = call.rows;
        int n = call.n;
        int tokens = call.tokens;
        MemorySegment packed = call.packed;
        MemorySegment scratch = call.scratch;
        long at = Memory.at(call.weights, call.rowAt(0), rows * call.rowBytes);
        long x = Memory.at(packed, 0, packedBytes(n, tokens));
        long s = Memory.at(scratch, 0, scratchBytes(n, tokens));
        if (tokens < PANEL_TOKENS) {
            int done = rows / STREAMS * STREAMS;
            for (int t = 0; t < tokens; t++) {
                int to = call.outOffset + t * call.outStride;
                long xt = x + t * packing.rowBytes(n);
                streams(call, at, STREAMS, xt, s, to);
                for (int r = done; r < rows; r++) {
                    streams(call, at + r * call.rowBytes, 1, xt, s, to + r);
                }
            }
            return;
        }
        for (int r = 0; r < rows; r += PermutedPanel.ROWS) {
            int count = Math.min(PermutedPanel.ROWS, rows - r);
            words(call, at + r * call.rowBytes, count, s + PermutedPanel.SUMS);
            PermutedPanel.begin(scratch, s);
            for (int t = 0; t < tokens; t += PermutedPanel.CHUNK) {
                int chunk = Math.min(PermutedPanel.CHUNK, tokens - t);
                int held = packing.held(packed, n, t);
                panel(call, s, x + packing.chunk(n, t) + held * packing.rowBytes(n), held, chunk);
                // Without sums, their strands are 0.
                float plus = sums == 0 ? 0f : -0f;
                int to = call.outOffset + r + t * call.outStride;
                for (int i = 0; i < chunk; i++) {
                    PermutedPanel.store(scratch, s, i, plus, call.out.array(), to + i * call.outStride, count);
                }
            }
        }
    }

    /// Transposes the rows of a panel, and reads their scales; one that lacks rows gets the last
    /// one again.
    private void words(LinearCall call, long at, int rows, long to) {
        int blocks = call.n / block;
        MemorySegment scratch = call.scratch;
        long width = PermutedPanel.WIDTH;
        long apart = wordBytes(blocks);
        long first = to + wordVectors() * apart;
        // Behind the strands, a block as it is copied.
        long block = first + 16L * sums * apart + 2L * vectorPairs * blocks * width;
        for (int r = 0; r < PermutedPanel.ROWS; r += LANES) {
            for (int b = 0; b < blocks; b++) {
                long words = to + b * width + 4L * r;
                long p = at + (long) b * parts.bytes();
                for (int lane = 0; lane < LANES; lane += 4) {
                    PermutedWords.copy(call, parts, p, r + lane, rows - 1, block + 4L * lane);
                }
                PermutedWords.transpose(scratch, block, parts.words() / 4, parts.f16Count(), words, apart);
                if (sums > 0) {
                    numbers.write(scratch, words, first + b * width + 4L * r, apart);
                }
            }
        }
    }

    /// Multiplies the rows of a panel, one lane of the strands after the other.
    ///
    /// @param s where [PermutedPanel#SUMS] bytes are, and the panel's words behind them
    /// @param x where the strands of the first token are: four tokens' first elements, their second ones,
    ///     to the last; then the next four tokens'
    /// @param held tokens that lie together
    /// @param tokens number of tokens, at most [PermutedPanel#CHUNK]
    private void panel(LinearCall call, long s, long x, long held, int tokens) {
        MemorySegment scratch = call.scratch;
        MemorySegment packed = call.packed;
        int blocks = call.n / block;
        int length = vectorPairs * blocks;
        int restLength = sums * blocks;
        long words = s + PermutedPanel.SUMS;
        long apart = wordBytes(blocks);
        long numbersAt = words + wordVectors() * apart;
        long even = numbersAt + 16 * sums * apart;
        long odd = even + (long) length * PermutedPanel.WIDTH;
        for (int i = 0; i < 16; i++) {
            int lane = PermutedPanel.lane(i);
            unpack.write(scratch, lane, words, blocks, numbersAt, even);
            long xe = x + 4 * held * lane * length;
            long xo = xe + 64 * held * length;
            long xs = x + 4 * held * (32L * length + (long) lane * restLength);
            long rest = numbersAt + lane * apart;
            long to = PermutedPanel.sums(s, i);
            for (int t = 0; t < tokens; t += PermutedPanel.TOKENS) {
                PermutedTile.multiply(
                        scratch, even, packed, xe + 4L * t * length, length, to + (long) t * PermutedPanel.WIDTH);
            }
            for (int t = 0; t < tokens; t += PermutedPanel.TOKENS) {
                PermutedTile.multiply(scratch, odd, packed, xo + 4L * t * length, length, PermutedPanel.odd(s));
                if (restLength > 0) {
                    PermutedTile.multiply(
                            scratch, rest, packed, xs + 4L * t * restLength, restLength, PermutedPanel.rest(s));
                }
                PermutedPanel.tile(scratch, s, i, t, restLength > 0);
            }
            PermutedPanel.tree(scratch, s, i, tokens);
        }
    }

    /// Multiplies rows that advance together with a token: all of a call, but what is left when they are divided by
    /// their number.
    ///
    /// @param at where the first row starts
    /// @param streams how many advance together: [#STREAMS], [#apart] from each other, or a single one
    /// @param x the packed activations
    /// @param s scratch memory
    /// @param to index of the first sum
    private void streams(LinearCall call, long at, int streams, long x, long s, int to) {
        MemorySegment scratch = call.scratch;
        MemorySegment packed = call.packed;
        float[] out = call.out.array();
        int each = streams == 1 ? 1 : call.rows / STREAMS;
        int blocks = call.n / block;
        long odd = packing.odd(call.n);
        long sumsAt = 2L * vectorPairs * blocks * VECTOR;
        for (int r = 0; r < each; r++) {
            PermutedPanel.clear(scratch, s, streams);
            for (int b = 0; b < blocks; b += turn) {
                int count = Math.min(turn, blocks - b);
                long even = x + (long) vectorPairs * b * packing.apart;
                long rest = x + sumsAt + (long) b * VECTOR;
                long p = at + r * call.rowBytes + (long) b * parts.bytes();
                if (LANES == 16) {
                    dot.add(call, p, streams, count, s, even, rest);
                    continue;
                }
                for (int stream = 0; stream < streams; stream++) {
                    long strands = s + stream * PermutedPanel.PAIR;
                    long values = s + VALUES;
                    decode(call, p + stream * apart(call), count, s + SCALES, values);
                    int vectors = vectorPairs * count;
                    long next = (long) vectors * VECTOR;
                    PermutedPanel.dot(scratch, values, strands, packed, even, vectors);
                    PermutedPanel.dot(scratch, values + next, strands + VECTOR, packed, even + odd, vectors);
                    PermutedPanel.dot(scratch, values + 2 * next, strands + 2 * VECTOR, packed, rest, sums * count);
                }
            }
            if (LANES == 16 && streams == STREAMS) {
                PermutedPanel.sums(scratch, s, out, to + r, each);
                continue;
            }
            for (int stream = 0; stream < streams; stream++) {
                out[to + stream * each + r] = PermutedPanel.sum(scratch, s + stream * PermutedPanel.PAIR);
            }
        }
    }

    /// Decodes blocks: even vectors, odd ones, then scales.
    private void decode(LinearCall call, long at, int blocks, long numbers, long to) {
        for (int b = 0; b < blocks; b += turn) {
            int count = Math.min(turn, blocks - b);
            long p = at + (long) b * parts.bytes();
            scales.read(call, p, count, numbers);
            long even = to + (long) vectorPairs * b * VECTOR;
            long odd = even + (long) vectorPairs * blocks * VECTOR;
            for (int part = 0; part < VECTOR; part += LANE_BYTES) {
                decode.write(call, p, count, numbers, even + part, odd + part, part);
            }
            PermutedPanel.copy(call.scratch, numbers, to + (2L * vectorPairs * blocks + b) * VECTOR, sums * count);
        }
    }
}
