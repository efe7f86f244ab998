package ${package};

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.Memory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/// Multiplies decoded weights by activations, both in float32: four weight rows by up to four tokens at a time.
///
/// Knows nothing of a format; takes vectors of 256 bits and more. Scratch memory holds a span of four decoded rows, and then, for each token, a
/// vector of sums for each of the rows. Each sum is added in the same order whatever the number of tokens, so
/// that the bits of a token depend on no other: lane `j` adds the products of the elements `i` with `i % LANES
/// == j`, and [#store] adds the lanes.
///
/// No vector crosses the border of a method: where C2 did not inline the call, the vector would be an object.
@CompileThresholdScaling(0.03)
final class Tiles {
    /// The longest vectors of this machine.
    static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
    /// Floats in a vector.
    static final int LANES = F.length();
    /// Bytes of a vector.
    static final int VECTOR = F.vectorByteSize();
    /// Weight rows of a tile.
    static final int ROWS = 4;
    /// Most elements of a row that are decoded at once; four rows of them fit the first-level cache.
    static final int SPAN = 1024;
    /// Bytes from one decoded row to the next in scratch memory.
    static final long ROW = 4L * SPAN;

    private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;
    private static final VectorSpecies<Float> QUARTER = FloatVector.SPECIES_128;
    private static final int TOKENS = 4;
    private static final long SUMS = ROWS * ROW;

    private Tiles() {}

    /// {@return bytes of scratch memory}
    ///
    /// @param tokens number of activation rows
    static long scratchBytes(int tokens) {
        return SUMS + (long) tokens * ROWS * VECTOR;
    }

    /// Sets all sums to 0.
    ///
    /// @param scratch scratch memory
    /// @param at where it begins, from [Memory#at]
    /// @param tokens number of tokens
    static void clear(MemorySegment scratch, long at, int tokens) {
        MemorySegment memory = Memory.base(scratch);
        long sums = (at & Memory.ADDRESS) + SUMS;
        for (int i = 0; i < tokens * ROWS; i++) {
            FloatVector.zero(F).intoMemorySegment(memory, sums + (long) i * VECTOR, LE);
        }
    }

    /// Adds the products of a span to the sums. Where there are fewer than four weight rows, the sums of the others
    /// are meaningless.
    ///
    /// @param scratch holds the decoded span of each row, [#ROW] bytes apart
    /// @param w where they begin, from [Memory#at]
    /// @param x where the span of the first activation row begins in memory outside of the heap, from [Memory#at]
    /// @param apart bytes from one row to the next
    /// @param tokens how many there are
    /// @param n elements of the span, a multiple of [#LANES]
    static void multiply(MemorySegment scratch, long w, MemorySegment packed, long x, long apart, int tokens, int n) {
        long at = x;
        long sums = w + SUMS;
        int t = 0;
        for (; t + TOKENS <= tokens; t += TOKENS) {
            four(scratch, w, sums, packed, at, apart, n);
            at += TOKENS * apart;
            sums += TOKENS * ROWS * VECTOR;
        }
        for (; t < tokens; t++) {
            one(scratch, w, sums, packed, at, n);
            at += apart;
            sums += ROWS * VECTOR;
        }
    }

    /// Writes the sums of all tokens.
    ///
    /// @param scratch holds the sums
    /// @param at where it begins, from [Memory#at]
    /// @param tokens number of tokens
    /// @param rows number of weight rows, at most [#ROWS]
    /// @param out receives them
    /// @param to index of the first
    /// @param stride elements from one token to the next
    static void store(MemorySegment scratch, long at, int tokens, int rows, float[] out, int to, int stride) {
        MemorySegment memory = Memory.base(scratch);
        long sums = (at & Memory.ADDRESS) + SUMS;
        for (int t = 0; t < tokens; t++) {
            for (int r = 0; r < rows; r++) {
                long from = sums + ((long) t * ROWS + r) * VECTOR;
                FloatVector sum = FloatVector.fromMemorySegment(QUARTER, memory, from, LE);
                for (int i = QUARTER.vectorByteSize(); i < VECTOR; i += QUARTER.vectorByteSize()) {
                    sum = sum.add(FloatVector.fromMemorySegment(QUARTER, memory, from + i, LE));
                }
                out[to + t * stride + r] = sum.lane(0) + sum.lane(2) + (sum.lane(1) + sum.lane(3));
            }
        }
    }

    /// Four rows, one token.
    private static void one(MemorySegment scratch, long w, long s, MemorySegment packed, long at, int n) {
        MemorySegment memory = Memory.base(scratch);
        MemorySegment tokens = Memory.base(packed);
        long rows = w & Memory.ADDRESS;
        long sums = s & Memory.ADDRESS;
        long x = at & Memory.ADDRESS;
        FloatVector a0 = FloatVector.fromMemorySegment(F, memory, sums, LE);
        FloatVector a1 = FloatVector.fromMemorySegment(F, memory, sums + VECTOR, LE);
        FloatVector a2 = FloatVector.fromMemorySegment(F, memory, sums + 2 * VECTOR, LE);
        FloatVector a3 = FloatVector.fromMemorySegment(F, memory, sums + 3 * VECTOR, LE);
        for (int i = 0; i < n; i += LANES) {
            long o = 4L * i;
            FloatVector v = FloatVector.fromMemorySegment(F, tokens, x + o, LE);
            a0 = FloatVector.fromMemorySegment(F, memory, rows + o, LE).fma(v, a0);
            a1 = FloatVector.fromMemorySegment(F, memory, rows + o + ROW, LE).fma(v, a1);
            a2 = FloatVector.fromMemorySegment(F, memory, rows + o + 2 * ROW, LE).fma(v, a2);
            a3 = FloatVector.fromMemorySegment(F, memory, rows + o + 3 * ROW, LE).fma(v, a3);
        }
        a0.intoMemorySegment(memory, sums, LE);
        a1.intoMemorySegment(memory, sums + VECTOR, LE);
        a2.intoMemorySegment(memory, sums + 2 * VECTOR, LE);
        a3.intoMemorySegment(memory, sums + 3 * VECTOR, LE);
    }

    /// Four rows, four tokens: eight loads feed sixteen fused multiply-adds.
    private static void four(
            MemorySegment scratch, long w, long s, MemorySegment packed, long at, long apart, int n) {
        MemorySegment memory = Memory.base(scratch);
        MemorySegment tokens = Memory.base(packed);
        long rows = w & Memory.ADDRESS;
        long sums = s & Memory.ADDRESS;
        long x = at & Memory.ADDRESS;
        long x1 = at + apart & Memory.ADDRESS;
        long x2 = at + 2 * apart & Memory.ADDRESS;
        long x3 = at + 3 * apart & Memory.ADDRESS;
        FloatVector a00 = FloatVector.fromMemorySegment(F, memory, sums, LE);
        FloatVector a01 = FloatVector.fromMemorySegment(F, memory, sums + VECTOR, LE);
        FloatVector a02 = FloatVector.fromMemorySegment(F, memory, sums + 2 * VECTOR, LE);
        FloatVector a03 = FloatVector.fromMemorySegment(F, memory, sums + 3 * VECTOR, LE);
        FloatVector a10 = FloatVector.fromMemorySegment(F, memory, sums + 4 * VECTOR, LE);
        FloatVector a11 = FloatVector.fromMemorySegment(F, memory, sums + 5 * VECTOR, LE);
        FloatVector a12 = FloatVector.fromMemorySegment(F, memory, sums + 6 * VECTOR, LE);
        FloatVector a13 = FloatVector.fromMemorySegment(F, memory, sums + 7 * VECTOR, LE);
        FloatVector a20 = FloatVector.fromMemorySegment(F, memory, sums + 8 * VECTOR, LE);
        FloatVector a21 = FloatVector.fromMemorySegment(F, memory, sums + 9 * VECTOR, LE);
        FloatVector a22 = FloatVector.fromMemorySegment(F, memory, sums + 10 * VECTOR, LE);
        FloatVector a23 = FloatVector.fromMemorySegment(F, memory, sums + 11 * VECTOR, LE);
        FloatVector a30 = FloatVector.fromMemorySegment(F, memory, sums + 12 * VECTOR, LE);
        FloatVector a31 = FloatVector.fromMemorySegment(F, memory, sums + 13 * VECTOR, LE);
        FloatVector a32 = FloatVector.fromMemorySegment(F, memory, sums + 14 * VECTOR, LE);
        FloatVector a33 = FloatVector.fromMemorySegment(F, memory, sums + 15 * VECTOR, LE);
        for (int i = 0; i < n; i += LANES) {
            long o = 4L * i;
            FloatVector w0 = FloatVector.fromMemorySegment(F, memory, rows + o, LE);
            FloatVector w1 = FloatVector.fromMemorySegment(F, memory, rows + o + ROW, LE);
            FloatVector w2 = FloatVector.fromMemorySegment(F, memory, rows + o + 2 * ROW, LE);
            FloatVector w3 = FloatVector.fromMemorySegment(F, memory, rows + o + 3 * ROW, LE);
            FloatVector v = FloatVector.fromMemorySegment(F, tokens, x + o, LE);
            a00 = w0.fma(v, a00);
            a01 = w1.fma(v, a01);
            a02 = w2.fma(v, a02);
            a03 = w3.fma(v, a03);
            v = FloatVector.fromMemorySegment(F, tokens, x1 + o, LE);
            a10 = w0.fma(v, a10);
            a11 = w1.fma(v, a11);
            a12 = w2.fma(v, a12);
            a13 = w3.fma(v, a13);
            v = FloatVector.fromMemorySegment(F, tokens, x2 + o, LE);
            a20 = w0.fma(v, a20);
            a21 = w1.fma(v, a21);
            a22 = w2.fma(v, a22);
            a23 = w3.fma(v, a23);
            v = FloatVector.fromMemorySegment(F, tokens, x3 + o, LE);
            a30 = w0.fma(v, a30);
            a31 = w1.fma(v, a31);
            a32 = w2.fma(v, a32);
            a33 = w3.fma(v, a33);
        }
        a00.intoMemorySegment(memory, sums, LE);
        a01.intoMemorySegment(memory, sums + VECTOR, LE);
        a02.intoMemorySegment(memory, sums + 2 * VECTOR, LE);
        a03.intoMemorySegment(memory, sums + 3 * VECTOR, LE);
        a10.intoMemorySegment(memory, sums + 4 * VECTOR, LE);
        a11.intoMemorySegment(memory, sums + 5 * VECTOR, LE);
        a12.intoMemorySegment(memory, sums + 6 * VECTOR, LE);
        a13.intoMemorySegment(memory, sums + 7 * VECTOR, LE);
        a20.intoMemorySegment(memory, sums + 8 * VECTOR, LE);
        a21.intoMemorySegment(memory, sums + 9 * VECTOR, LE);
        a22.intoMemorySegment(memory, sums + 10 * VECTOR, LE);
        a23.intoMemorySegment(memory, sums + 11 * VECTOR, LE);
        a30.intoMemorySegment(memory, sums + 12 * VECTOR, LE);
        a31.intoMemorySegment(memory, sums + 13 * VECTOR, LE);
        a32.intoMemorySegment(memory, sums + 14 * VECTOR, LE);
        a33.intoMemorySegment(memory, sums + 15 * VECTOR, LE);
    }
}
