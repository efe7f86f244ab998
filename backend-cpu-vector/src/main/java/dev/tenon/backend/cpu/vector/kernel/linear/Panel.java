package dev.tenon.backend.cpu.vector.kernel.linear;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.ForceInline;
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

    /// Computes `out[t * outStride + firstRow + r]`.
    ///
    /// @param scratch thread's memory: [#SCRATCH] floats for strands, and the decoded rows `[rows, n]`
    /// @param panel index of the first decoded row in `scratch`
    /// @param rows number of rows
    /// @param x `[tokens, n]`
    /// @param n elements in a row
    /// @param tokens number of tokens
    /// @param out receives the sums
    /// @param outStride elements between tokens in `out`
    /// @param firstRow index of the panel's first row in `out`
    static void multiply(
            float[] scratch,
            int panel,
            int rows,
            float[] x,
            int n,
            int tokens,
            float[] out,
            int outStride,
            int firstRow) {
        int t = 0;
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
                    out[(t + j) * outStride + firstRow + r] = Strands.sum(scratch, at);
                }
            }
            singles(scratch, panel, tiled, rows, x, n, t, t + TOKENS, out, outStride, firstRow);
        }
        singles(scratch, panel, 0, rows, x, n, t, tokens, out, outStride, firstRow);
    }

    /// The pairs that fill no tile.
    private static void singles(
            float[] scratch,
            int panel,
            int fromRow,
            int toRow,
            float[] x,
            int n,
            int fromToken,
            int toToken,
            float[] out,
            int outStride,
            int firstRow) {
        for (int r = fromRow; r < toRow; r++) {
            for (int t = fromToken; t < toToken; t++) {
                dot(scratch, panel + r * n, x, t * n, n, scratch, 0);
                out[t * outStride + firstRow + r] = Strands.sum(scratch, 0);
            }
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
    private static void tile4(float[] b, int w, float[] x, int xOffset, int n, int length, int s) {
        FloatVector a00 = strand(b, s, 0);
        FloatVector a01 = strand(b, s, 1);
        FloatVector a02 = strand(b, s, 2);
        FloatVector a03 = strand(b, s, 3);
        FloatVector a10 = strand(b, s, 4);
        FloatVector a11 = strand(b, s, 5);
        FloatVector a12 = strand(b, s, 6);
        FloatVector a13 = strand(b, s, 7);
        FloatVector a20 = strand(b, s, 8);
        FloatVector a21 = strand(b, s, 9);
        FloatVector a22 = strand(b, s, 10);
        FloatVector a23 = strand(b, s, 11);
        FloatVector a30 = strand(b, s, 12);
        FloatVector a31 = strand(b, s, 13);
        FloatVector a32 = strand(b, s, 14);
        FloatVector a33 = strand(b, s, 15);
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
        store(a00, b, s, 0);
        store(a01, b, s, 1);
        store(a02, b, s, 2);
        store(a03, b, s, 3);
        store(a10, b, s, 4);
        store(a11, b, s, 5);
        store(a12, b, s, 6);
        store(a13, b, s, 7);
        store(a20, b, s, 8);
        store(a21, b, s, 9);
        store(a22, b, s, 10);
        store(a23, b, s, 11);
        store(a30, b, s, 12);
        store(a31, b, s, 13);
        store(a32, b, s, 14);
        store(a33, b, s, 15);
    }

    /// Two rows, four tokens.
    private static void tile2(float[] b, int w, float[] x, int xOffset, int n, int length, int s) {
        FloatVector a00 = strand(b, s, 0);
        FloatVector a01 = strand(b, s, 1);
        FloatVector a02 = strand(b, s, 2);
        FloatVector a03 = strand(b, s, 3);
        FloatVector a10 = strand(b, s, 4);
        FloatVector a11 = strand(b, s, 5);
        FloatVector a12 = strand(b, s, 6);
        FloatVector a13 = strand(b, s, 7);
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
        store(a00, b, s, 0);
        store(a01, b, s, 1);
        store(a02, b, s, 2);
        store(a03, b, s, 3);
        store(a10, b, s, 4);
        store(a11, b, s, 5);
        store(a12, b, s, 6);
        store(a13, b, s, 7);
    }

    @ForceInline
    private static FloatVector strand(float[] strands, int s, int pair) {
        return FloatVector.fromArray(F, strands, pair * Strands.COUNT + s);
    }

    @ForceInline
    private static void store(FloatVector v, float[] strands, int s, int pair) {
        v.intoArray(strands, pair * Strands.COUNT + s);
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
