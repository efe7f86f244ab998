package dev.tenon.backend.cpu.vector.kernel.permuted;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.I;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;
import static dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear.LANE_BYTES;
import static dev.tenon.backend.cpu.vector.kernel.permuted.PermutedPanel.TOKENS;
import static dev.tenon.backend.cpu.vector.kernel.permuted.PermutedPanel.WIDTH;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;

/// Multiplies one strand of a panel's rows with that of a tile of tokens, all sums in registers.
///
/// It stores sums and does not add them to others: with that and two elements at a time, methods
/// would be too large for C1, which gives up when it is out of virtual registers, and some would
/// never come to C2.
final class PermutedTile {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(Species.LE);

    private PermutedTile() {}

    /// Computes the sums of `n` products for each row and token. A tile that lacks tokens computes
    /// what is left of others.
    ///
    /// @param scratch memory of rows and sums
    /// @param w where the rows' first elements are; [PermutedPanel#WIDTH] bytes behind, the second
    /// @param packed memory of the activations
    /// @param x where the tokens' first elements are, [PermutedPanel#TOKENS] together
    /// @param n how many elements, at least 1
    /// @param to where the first token's sums go
    static void multiply(MemorySegment scratch, long w, MemorySegment packed, long x, int n, long to) {
        if (LANES != 16) {
            narrow(scratch, w, packed, x, n, to);
        } else if ((n & 1) == 0) {
            wide(scratch, w, packed, x, n, to);
        } else {
            odd(scratch, w, packed, x, n, to);
        }
    }

    /// Four vectors of rows and four tokens, an even number of elements: two at a time.
    private static void wide(MemorySegment scratch, long w, MemorySegment packed, long x, int n, long to) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        long p = w;
        long y = x;
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
        // Two addresses and an int counted down take three instructions less than an index does.
        int left = 2 * n;
        do {
            p &= Memory.ADDRESS;
            y &= Memory.ADDRESS;
            FloatVector w0 = FloatVector.fromMemorySegment(F, s, p, Species.LE);
            FloatVector w1 = FloatVector.fromMemorySegment(F, s, p + 1 * LANE_BYTES, Species.LE);
            FloatVector w2 = FloatVector.fromMemorySegment(F, s, p + 2 * LANE_BYTES, Species.LE);
            FloatVector w3 = FloatVector.fromMemorySegment(F, s, p + 3 * LANE_BYTES, Species.LE);
            FloatVector v = (FloatVector) IntVector.broadcast(I, m.get(INT, y)).reinterpretAsFloats();
            a00 = w0.fma(v, a00);
            a10 = w1.fma(v, a10);
            a20 = w2.fma(v, a20);
            a30 = w3.fma(v, a30);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 4)).reinterpretAsFloats();
            a01 = w0.fma(v, a01);
            a11 = w1.fma(v, a11);
            a21 = w2.fma(v, a21);
            a31 = w3.fma(v, a31);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 8)).reinterpretAsFloats();
            a02 = w0.fma(v, a02);
            a12 = w1.fma(v, a12);
            a22 = w2.fma(v, a22);
            a32 = w3.fma(v, a32);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 12)).reinterpretAsFloats();
            a03 = w0.fma(v, a03);
            a13 = w1.fma(v, a13);
            a23 = w2.fma(v, a23);
            a33 = w3.fma(v, a33);
            w0 = FloatVector.fromMemorySegment(F, s, p + 4 * LANE_BYTES, Species.LE);
            w1 = FloatVector.fromMemorySegment(F, s, p + 5 * LANE_BYTES, Species.LE);
            w2 = FloatVector.fromMemorySegment(F, s, p + 6 * LANE_BYTES, Species.LE);
            w3 = FloatVector.fromMemorySegment(F, s, p + 7 * LANE_BYTES, Species.LE);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 16)).reinterpretAsFloats();
            a00 = w0.fma(v, a00);
            a10 = w1.fma(v, a10);
            a20 = w2.fma(v, a20);
            a30 = w3.fma(v, a30);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 20)).reinterpretAsFloats();
            a01 = w0.fma(v, a01);
            a11 = w1.fma(v, a11);
            a21 = w2.fma(v, a21);
            a31 = w3.fma(v, a31);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 24)).reinterpretAsFloats();
            a02 = w0.fma(v, a02);
            a12 = w1.fma(v, a12);
            a22 = w2.fma(v, a22);
            a32 = w3.fma(v, a32);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 28)).reinterpretAsFloats();
            a03 = w0.fma(v, a03);
            a13 = w1.fma(v, a13);
            a23 = w2.fma(v, a23);
            a33 = w3.fma(v, a33);
            p += 2 * WIDTH;
            y += 2 * TOKENS * Float.BYTES;
            left -= 4;
        } while (left != 0);
        long d = to & Memory.ADDRESS;
        a00.intoMemorySegment(s, d, Species.LE);
        a10.intoMemorySegment(s, d + 1 * LANE_BYTES, Species.LE);
        a20.intoMemorySegment(s, d + 2 * LANE_BYTES, Species.LE);
        a30.intoMemorySegment(s, d + 3 * LANE_BYTES, Species.LE);
        a01.intoMemorySegment(s, d + 4 * LANE_BYTES, Species.LE);
        a11.intoMemorySegment(s, d + 5 * LANE_BYTES, Species.LE);
        a21.intoMemorySegment(s, d + 6 * LANE_BYTES, Species.LE);
        a31.intoMemorySegment(s, d + 7 * LANE_BYTES, Species.LE);
        a02.intoMemorySegment(s, d + 8 * LANE_BYTES, Species.LE);
        a12.intoMemorySegment(s, d + 9 * LANE_BYTES, Species.LE);
        a22.intoMemorySegment(s, d + 10 * LANE_BYTES, Species.LE);
        a32.intoMemorySegment(s, d + 11 * LANE_BYTES, Species.LE);
        a03.intoMemorySegment(s, d + 12 * LANE_BYTES, Species.LE);
        a13.intoMemorySegment(s, d + 13 * LANE_BYTES, Species.LE);
        a23.intoMemorySegment(s, d + 14 * LANE_BYTES, Species.LE);
        a33.intoMemorySegment(s, d + 15 * LANE_BYTES, Species.LE);
    }

    /// Four vectors of rows and four tokens.
    private static void odd(MemorySegment scratch, long w, MemorySegment packed, long x, int n, long to) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
        long p = w;
        long y = x;
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
        int left = 2 * n;
        do {
            p &= Memory.ADDRESS;
            y &= Memory.ADDRESS;
            FloatVector w0 = FloatVector.fromMemorySegment(F, s, p, Species.LE);
            FloatVector w1 = FloatVector.fromMemorySegment(F, s, p + 1 * LANE_BYTES, Species.LE);
            FloatVector w2 = FloatVector.fromMemorySegment(F, s, p + 2 * LANE_BYTES, Species.LE);
            FloatVector w3 = FloatVector.fromMemorySegment(F, s, p + 3 * LANE_BYTES, Species.LE);
            FloatVector v = (FloatVector) IntVector.broadcast(I, m.get(INT, y)).reinterpretAsFloats();
            a00 = w0.fma(v, a00);
            a10 = w1.fma(v, a10);
            a20 = w2.fma(v, a20);
            a30 = w3.fma(v, a30);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 4)).reinterpretAsFloats();
            a01 = w0.fma(v, a01);
            a11 = w1.fma(v, a11);
            a21 = w2.fma(v, a21);
            a31 = w3.fma(v, a31);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 8)).reinterpretAsFloats();
            a02 = w0.fma(v, a02);
            a12 = w1.fma(v, a12);
            a22 = w2.fma(v, a22);
            a32 = w3.fma(v, a32);
            v = (FloatVector) IntVector.broadcast(I, m.get(INT, y + 12)).reinterpretAsFloats();
            a03 = w0.fma(v, a03);
            a13 = w1.fma(v, a13);
            a23 = w2.fma(v, a23);
            a33 = w3.fma(v, a33);
            p += WIDTH;
            y += TOKENS * Float.BYTES;
            left -= 2;
        } while (left != 0);
        long d = to & Memory.ADDRESS;
        a00.intoMemorySegment(s, d, Species.LE);
        a10.intoMemorySegment(s, d + 1 * LANE_BYTES, Species.LE);
        a20.intoMemorySegment(s, d + 2 * LANE_BYTES, Species.LE);
        a30.intoMemorySegment(s, d + 3 * LANE_BYTES, Species.LE);
        a01.intoMemorySegment(s, d + 4 * LANE_BYTES, Species.LE);
        a11.intoMemorySegment(s, d + 5 * LANE_BYTES, Species.LE);
        a21.intoMemorySegment(s, d + 6 * LANE_BYTES, Species.LE);
        a31.intoMemorySegment(s, d + 7 * LANE_BYTES, Species.LE);
        a02.intoMemorySegment(s, d + 8 * LANE_BYTES, Species.LE);
        a12.intoMemorySegment(s, d + 9 * LANE_BYTES, Species.LE);
        a22.intoMemorySegment(s, d + 10 * LANE_BYTES, Species.LE);
        a32.intoMemorySegment(s, d + 11 * LANE_BYTES, Species.LE);
        a03.intoMemorySegment(s, d + 12 * LANE_BYTES, Species.LE);
        a13.intoMemorySegment(s, d + 13 * LANE_BYTES, Species.LE);
        a23.intoMemorySegment(s, d + 14 * LANE_BYTES, Species.LE);
        a33.intoMemorySegment(s, d + 15 * LANE_BYTES, Species.LE);
    }

    /// Two vectors of rows and four tokens: narrow machines have half the registers.
    private static void narrow(MemorySegment scratch, long w, MemorySegment packed, long x, int n, long to) {
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
            FloatVector w1 = FloatVector.fromMemorySegment(F, s, p + j + 1 * LANE_BYTES, Species.LE);
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
        long d = to & Memory.ADDRESS;
        a00.intoMemorySegment(s, d, Species.LE);
        a10.intoMemorySegment(s, d + 1 * LANE_BYTES, Species.LE);
        a01.intoMemorySegment(s, d + 2 * LANE_BYTES, Species.LE);
        a11.intoMemorySegment(s, d + 3 * LANE_BYTES, Species.LE);
        a02.intoMemorySegment(s, d + 4 * LANE_BYTES, Species.LE);
        a12.intoMemorySegment(s, d + 5 * LANE_BYTES, Species.LE);
        a03.intoMemorySegment(s, d + 6 * LANE_BYTES, Species.LE);
        a13.intoMemorySegment(s, d + 7 * LANE_BYTES, Species.LE);
    }
}
