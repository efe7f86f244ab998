package dev.tenon.backend.cpu.vector.kernel.lowrank;

import dev.tenon.api.kernel.cpu.LinearCall;

/// The products of adapters in plain Java.
final class ScalarLowRankMath implements LowRankMath {
    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public void down(LowRankPair pair, float[] x, int width, int[] rows, int first, int last, float[] sums) {
        for (int from = 0; from < pair.cols(); from += PIECE) {
            for (int i = first; i < last; i++) {
                piece(pair, x, rows[i] * width, from, sums, rows[i] * pair.ranks(), from > 0);
            }
        }
    }

    @Override
    public void piece(LowRankPair pair, float[] x, int piece, float[] sums) {
        piece(pair, x, 0, piece * PIECE, sums, piece * pair.ranks(), false);
    }

    private static void piece(LowRankPair pair, float[] x, int row, int from, float[] sums, int at, boolean more) {
        int to = Math.min(from + PIECE, pair.cols());
        for (int k = 0; k < pair.ranks(); k++) {
            float sum = 0;
            for (int c = from; c < to; c++) {
                sum = Math.fma(x[row + c], pair.a()[c * pair.ranks() + k], sum);
            }
            sums[at + k] = more ? sums[at + k] + sum : sum;
        }
    }

    @Override
    public void up(LowRankPair pair, LinearCall call, float[] down, int[] rows, int count) {
        for (int i = 0; i < count; i++) {
            up(this, pair, call, 0, call.rows, down, rows[i]);
        }
    }

    /// Adds to some elements of one row.
    static void up(LowRankMath form, LowRankPair pair, LinearCall call, int from, int to, float[] down, int row) {
        float[] out = call.out.array();
        int at = call.outOffset + row * call.outStride;
        for (int i = from; i < to; i++) {
            float sum = out[at + i];
            for (int k = 0; k < pair.rank(); k++) {
                float b = pair.b()[form.index(call.firstRow + i, k, pair.rank())];
                sum = Math.fma(b, down[row * pair.ranks() + k], sum);
            }
            out[at + i] = sum;
        }
    }
}
