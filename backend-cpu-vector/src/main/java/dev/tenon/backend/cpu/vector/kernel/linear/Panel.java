package dev.tenon.backend.cpu.vector.kernel.linear;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;

/// Multiplies a panel of decoded weight rows with many tokens, in the order of [Strands].
///
/// A tile of 4 rows and 4 tokens keeps one accumulator for each pair in a register and walks a slice of
/// the columns once for each vector of strands: at 512 bits twice, strands 0 to 15 and then 16 to 31. Eight
/// loads feed sixteen fused multiply-adds. Narrow machines have half the registers and take tiles of 2 by 4.
/// All rows of the panel take their turn with a slice of four tokens, which the first-level cache then holds.
final class Panel {
    /// Rows of a panel.
    static final int ROWS = 16;
    /// Columns that a tile takes at once; rows and tokens of a slice stay in the first-level cache.
    private static final int SLICE = 1024;
    /// Tokens of a tile.
    private static final int TOKENS = 4;
    /// Strands of a panel's rows and a tile's tokens, in front of the decoded rows in the thread's scratch memory.
    static final int SCRATCH = ROWS * TOKENS * Strands.COUNT;
    /// Rows of a tile.
    private static final int TILE_ROWS = LANES == 16 ? 4 : 2;

    private Panel() {}

    /// Multiplies some rows of a call with all its tokens.
    ///
    /// @param call where sums go
    /// @param first the first of the rows, counted from the call's first
    /// @param rows how many
    /// @param x `[tokens, n]`
    /// @param scratch thread's memory: [#SCRATCH] floats for strands, and the decoded rows `[rows, n]`
    /// @param panel index of the first decoded row in `scratch`
    static void multiply(LinearCall call, int first, int rows, float[] x, float[] scratch, int panel) {
        int t = 0;
        int n = call.n;
        int tokens = call.tokens;
        int outStride = call.outStride;
        int to = call.outOffset + first;
        float[] out = call.out.array();
        int whole = n - n % Strands.COUNT;
        int tiled = rows - rows % TILE_ROWS;
        for (; t + TOKENS <= tokens; t += TOKENS) {
            Arrays.fill(scratch, 0, tiled * TOKENS * Strands.COUNT, 0f);
            for (int k = 0; k < whole; k += SLICE) {
                int length = Math.min(SLICE, whole - k);
                for (int r = 0; r < tiled; r += TILE_ROWS) {
                    tile(scratch, panel + r * n + k, x, t * n + k, n, length, r * TOKENS * Strands.COUNT);
                }
            }
            for (int r = 0; r < tiled; r++) {
                for (int j = 0; j < TOKENS; j++) {
                    int at = (r * TOKENS + j) * Strands.COUNT;
                    tail(scratch, panel + r * n, x, (t + j) * n, n, at);
                    out[to + (t + j) * outStride + r] = Strands.sum(scratch, at);
                }
            }
            for (int r = tiled; r < rows; r++) {
                singles(call, t, t + TOKENS, x, scratch, panel + r * n, to + r);
            }
        }
        for (int r = 0; r < rows; r++) {
            singles(call, t, tokens, x, scratch, panel + r * n, to + r);
        }
    }

    /// The pairs of a decoded row and some tokens, which fill no tile.
    ///
    /// @param to index of the sum of the row and token 0
    private static void singles(
            LinearCall call, int fromToken, int toToken, float[] x, float[] scratch, int row, int to) {
        int n = call.n;
        int outStride = call.outStride;
        float[] out = call.out.array();
        for (int t = fromToken; t < toToken; t++) {
            dot(scratch, row, x, t * n, n, scratch, 0);
            out[to + t * outStride] = Strands.sum(scratch, 0);
        }
    }

    /// A slice of a tile; all indexes are those of its first column.
    private static void tile(float[] scratch, int w, float[] x, int xOffset, int n, int length, int strands) {
        for (int s = 0; s < Strands.COUNT; s += LANES) {
            if (LANES == 16) {
                tile4(scratch, w + s, x, xOffset + s, n, length, strands + s);
            } else {
                tile2(scratch, w + s, x, xOffset + s, n, length, strands + s);
            }
        }
    }

    /// Four rows, four tokens; `w` and `xOffset` already point at the slice's first vector.
    ///
    /// Loads and stores are written out: for a method around them C2 has too many nodes when it comes to the last
    /// stores, and calls would have their vectors made on the heap.
    private static void tile4(float[] b, int w, float[] x, int xOffset, int n, int length, int s) {
        FloatVector a00 = FloatVector.fromArray(F, b, s);
        FloatVector a01 = FloatVector.fromArray(F, b, s + Strands.COUNT);
        FloatVector a02 = FloatVector.fromArray(F, b, s + 2 * Strands.COUNT);
        FloatVector a03 = FloatVector.fromArray(F, b, s + 3 * Strands.COUNT);
        FloatVector a10 = FloatVector.fromArray(F, b, s + 4 * Strands.COUNT);
        FloatVector a11 = FloatVector.fromArray(F, b, s + 5 * Strands.COUNT);
        FloatVector a12 = FloatVector.fromArray(F, b, s + 6 * Strands.COUNT);
        FloatVector a13 = FloatVector.fromArray(F, b, s + 7 * Strands.COUNT);
        FloatVector a20 = FloatVector.fromArray(F, b, s + 8 * Strands.COUNT);
        FloatVector a21 = FloatVector.fromArray(F, b, s + 9 * Strands.COUNT);
        FloatVector a22 = FloatVector.fromArray(F, b, s + 10 * Strands.COUNT);
        FloatVector a23 = FloatVector.fromArray(F, b, s + 11 * Strands.COUNT);
        FloatVector a30 = FloatVector.fromArray(F, b, s + 12 * Strands.COUNT);
        FloatVector a31 = FloatVector.fromArray(F, b, s + 13 * Strands.COUNT);
        FloatVector a32 = FloatVector.fromArray(F, b, s + 14 * Strands.COUNT);
        FloatVector a33 = FloatVector.fromArray(F, b, s + 15 * Strands.COUNT);
        int w1 = w + n;
        int w2 = w1 + n;
        int w3 = w2 + n;
        int o1 = xOffset + n;
        int o2 = o1 + n;
        int o3 = o2 + n;
        for (int k = 0; k < length; k += Strands.COUNT) {
            FloatVector x0 = FloatVector.fromArray(F, x, xOffset + k);
            FloatVector x1 = FloatVector.fromArray(F, x, o1 + k);
            FloatVector x2 = FloatVector.fromArray(F, x, o2 + k);
            FloatVector x3 = FloatVector.fromArray(F, x, o3 + k);
            FloatVector v = FloatVector.fromArray(F, b, w + k);
            a00 = v.fma(x0, a00);
            a01 = v.fma(x1, a01);
            a02 = v.fma(x2, a02);
            a03 = v.fma(x3, a03);
            v = FloatVector.fromArray(F, b, w1 + k);
            a10 = v.fma(x0, a10);
            a11 = v.fma(x1, a11);
            a12 = v.fma(x2, a12);
            a13 = v.fma(x3, a13);
            v = FloatVector.fromArray(F, b, w2 + k);
            a20 = v.fma(x0, a20);
            a21 = v.fma(x1, a21);
            a22 = v.fma(x2, a22);
            a23 = v.fma(x3, a23);
            v = FloatVector.fromArray(F, b, w3 + k);
            a30 = v.fma(x0, a30);
            a31 = v.fma(x1, a31);
            a32 = v.fma(x2, a32);
            a33 = v.fma(x3, a33);
        }
        a00.intoArray(b, s);
        a01.intoArray(b, s + Strands.COUNT);
        a02.intoArray(b, s + 2 * Strands.COUNT);
        a03.intoArray(b, s + 3 * Strands.COUNT);
        a10.intoArray(b, s + 4 * Strands.COUNT);
        a11.intoArray(b, s + 5 * Strands.COUNT);
        a12.intoArray(b, s + 6 * Strands.COUNT);
        a13.intoArray(b, s + 7 * Strands.COUNT);
        a20.intoArray(b, s + 8 * Strands.COUNT);
        a21.intoArray(b, s + 9 * Strands.COUNT);
        a22.intoArray(b, s + 10 * Strands.COUNT);
        a23.intoArray(b, s + 11 * Strands.COUNT);
        a30.intoArray(b, s + 12 * Strands.COUNT);
        a31.intoArray(b, s + 13 * Strands.COUNT);
        a32.intoArray(b, s + 14 * Strands.COUNT);
        a33.intoArray(b, s + 15 * Strands.COUNT);
    }

    /// Two rows, four tokens.
    private static void tile2(float[] b, int w, float[] x, int xOffset, int n, int length, int s) {
        FloatVector a00 = FloatVector.fromArray(F, b, s);
        FloatVector a01 = FloatVector.fromArray(F, b, s + Strands.COUNT);
        FloatVector a02 = FloatVector.fromArray(F, b, s + 2 * Strands.COUNT);
        FloatVector a03 = FloatVector.fromArray(F, b, s + 3 * Strands.COUNT);
        FloatVector a10 = FloatVector.fromArray(F, b, s + 4 * Strands.COUNT);
        FloatVector a11 = FloatVector.fromArray(F, b, s + 5 * Strands.COUNT);
        FloatVector a12 = FloatVector.fromArray(F, b, s + 6 * Strands.COUNT);
        FloatVector a13 = FloatVector.fromArray(F, b, s + 7 * Strands.COUNT);
        int w1 = w + n;
        int o1 = xOffset + n;
        int o2 = o1 + n;
        int o3 = o2 + n;
        for (int k = 0; k < length; k += Strands.COUNT) {
            FloatVector v = FloatVector.fromArray(F, b, w + k);
            FloatVector u = FloatVector.fromArray(F, b, w1 + k);
            FloatVector t = FloatVector.fromArray(F, x, xOffset + k);
            a00 = v.fma(t, a00);
            a10 = u.fma(t, a10);
            t = FloatVector.fromArray(F, x, o1 + k);
            a01 = v.fma(t, a01);
            a11 = u.fma(t, a11);
            t = FloatVector.fromArray(F, x, o2 + k);
            a02 = v.fma(t, a02);
            a12 = u.fma(t, a12);
            t = FloatVector.fromArray(F, x, o3 + k);
            a03 = v.fma(t, a03);
            a13 = u.fma(t, a13);
        }
        a00.intoArray(b, s);
        a01.intoArray(b, s + Strands.COUNT);
        a02.intoArray(b, s + 2 * Strands.COUNT);
        a03.intoArray(b, s + 3 * Strands.COUNT);
        a10.intoArray(b, s + 4 * Strands.COUNT);
        a11.intoArray(b, s + 5 * Strands.COUNT);
        a12.intoArray(b, s + 6 * Strands.COUNT);
        a13.intoArray(b, s + 7 * Strands.COUNT);
    }

    /// Multiplies one row with one token.
    ///
    /// @param w values of the row
    /// @param wOffset index of the first
    /// @param x activations
    /// @param xOffset index of the first
    /// @param n elements
    /// @param strands receives the 32 strands
    /// @param at index of the first
    static void dot(float[] w, int wOffset, float[] x, int xOffset, int n, float[] strands, int at) {
        int whole = n - n % Strands.COUNT;
        for (int s = 0; s < Strands.COUNT; s += 2 * LANES) {
            FloatVector a0 = FloatVector.zero(F);
            FloatVector a1 = a0;
            int u = wOffset + s;
            int y = xOffset + s;
            for (int k = 0; k < whole; k += Strands.COUNT) {
                a0 = FloatVector.fromArray(F, w, u + k).fma(FloatVector.fromArray(F, x, y + k), a0);
                a1 = FloatVector.fromArray(F, w, u + k + LANES).fma(FloatVector.fromArray(F, x, y + k + LANES), a1);
            }
            a0.intoArray(strands, at + s);
            a1.intoArray(strands, at + s + LANES);
        }
        tail(w, wOffset, x, xOffset, n, strands, at);
    }

    private static void tail(float[] scratch, int w, float[] x, int xOffset, int n, int at) {
        tail(scratch, w, x, xOffset, n, scratch, at);
    }

    /// Adds the elements after the last whole 32 to their strands.
    private static void tail(float[] w, int wOffset, float[] x, int xOffset, int n, float[] strands, int at) {
        for (int i = n - n % Strands.COUNT; i < n; i++) {
            int strand = at + i % Strands.COUNT;
            strands[strand] = Math.fma(w[wOffset + i], x[xOffset + i], strands[strand]);
        }
    }
}
