package dev.tenon.benchmarks;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.RandomModels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/// Copies of a random weight matrix, and activations for it.
final class Matrix {
    private static final int DIFFERENT_ROWS = 32;

    /// Rows of the matrix.
    final int rows;
    /// Elements in a row.
    final int n;
    /// Bytes of a row.
    final long rowBytes;
    /// The copies.
    final MemorySegment[] copies;
    /// Activations `[tokens, n]`.
    final float[] x;
    private final float[][] decoded = new float[DIFFERENT_ROWS][];
    private int next;

    /// Makes matrix and activations.
    ///
    /// @param arena owns the memory
    /// @param format format of the weights
    /// @param rows rows
    /// @param n elements in a row
    /// @param tokens rows of activations
    /// @param bytes how much memory the copies take at least, so that no cache holds them
    Matrix(Arena arena, QuantFormat format, int rows, int n, int tokens, long bytes) {
        this.rows = rows;
        this.n = n;
        rowBytes = format.bytesFor(n);
        Random random = new Random(1);
        MemorySegment first = arena.allocate(rowBytes * rows, 64);
        for (int r = 0; r < rows; r++) {
            if (r < DIFFERENT_ROWS) {
                byte[] row = RandomModels.randomRows(format, n, 1 / Math.sqrt(n), random);
                MemorySegment.copy(row, 0, first, ValueLayout.JAVA_BYTE, r * rowBytes, row.length);
                decoded[r] = new float[n];
                format.dequantize(first, r * rowBytes, decoded[r], 0, n);
            } else {
                MemorySegment.copy(first, (r - DIFFERENT_ROWS) * rowBytes, first, r * rowBytes, rowBytes);
            }
        }
        copies = new MemorySegment[(int) Math.max(1, bytes / first.byteSize())];
        copies[0] = first;
        for (int i = 1; i < copies.length; i++) {
            copies[i] = arena.allocate(first.byteSize(), 64).copyFrom(first);
        }
        x = new float[tokens * n];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) random.nextGaussian();
        }
    }

    /// {@return the copy that was not used for longest}
    MemorySegment next() {
        next = (next + 1) % copies.length;
        return copies[next];
    }

    /// {@return the product with all tokens, in float64, `[tokens, rows]`}
    double[] product() {
        int tokens = x.length / n;
        double[] out = new double[tokens * rows];
        for (int t = 0; t < tokens; t++) {
            for (int r = 0; r < rows; r++) {
                double sum = 0;
                if (r < DIFFERENT_ROWS) {
                    for (int i = 0; i < n; i++) {
                        sum += (double) decoded[r][i] * x[t * n + i];
                    }
                } else {
                    sum = out[t * rows + r - DIFFERENT_ROWS];
                }
                out[t * rows + r] = sum;
            }
        }
        return out;
    }

    /// {@return bytes of one copy}
    long bytes() {
        return rowBytes * rows;
    }
}
