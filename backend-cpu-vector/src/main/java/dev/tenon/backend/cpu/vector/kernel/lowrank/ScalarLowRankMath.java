package dev.tenon.backend.cpu.vector.kernel.lowrank;

/// The products of adapters in plain Java.
final class ScalarLowRankMath implements LowRankMath {
    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public void down(
            float[] a,
            int from,
            int to,
            int ranks,
            float[] x,
            int width,
            int[] rows,
            int first,
            int last,
            float[] sums,
            boolean more) {
        for (int i = first; i < last; i++) {
            for (int k = 0; k < ranks; k++) {
                float sum = 0;
                for (int c = from; c < to; c++) {
                    sum = Math.fma(x[rows[i] * width + c], a[c * ranks + k], sum);
                }
                int at = rows[i] * ranks + k;
                sums[at] = more ? sums[at] + sum : sum;
            }
        }
    }

    @Override
    public void up(
            float[] b,
            int rank,
            int from,
            int n,
            float[] down,
            int ranks,
            int[] rows,
            int count,
            float[] out,
            int at,
            int stride) {
        for (int i = 0; i < count; i++) {
            up(this, b, rank, from, n, down, rows[i] * ranks, out, at + rows[i] * stride);
        }
    }

    /// Adds to some elements of one row.
    static void up(
            LowRankMath form, float[] b, int rank, int from, int n, float[] down, int downAt, float[] out, int at) {
        for (int i = 0; i < n; i++) {
            float sum = out[at + i];
            for (int k = 0; k < rank; k++) {
                sum = Math.fma(b[form.index(from + i, k, rank)], down[downAt + k], sum);
            }
            out[at + i] = sum;
        }
    }
}
