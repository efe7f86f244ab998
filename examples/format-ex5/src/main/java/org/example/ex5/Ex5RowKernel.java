package org.example.ex5;

import dev.tenon.api.kernel.cpu.RowKernel;
import java.lang.foreign.MemorySegment;

/// Dot products of EX5 rows with a row of activations, in plain Java: levels are multiplied as they
/// are unpacked, and the scale comes in once a block.
final class Ex5RowKernel implements RowKernel {
    @Override
    public String name() {
        return "ex5.java";
    }

    @Override
    public String format() {
        return Ex5Format.ID;
    }

    @Override
    public void dot(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            float[] x,
            int xOffset,
            int n,
            float[] out,
            int outOffset) {
        for (int r = 0; r < rows; r++) {
            out[outOffset + r] = dot(weights, (firstRow + r) * rowBytes, x, xOffset, n);
        }
    }

    private static float dot(MemorySegment weights, long row, float[] x, int xOffset, int n) {
        float sum = 0;
        long block = row;
        for (int i = xOffset; i < xOffset + n; i += Ex5Format.SIZE) {
            sum += Ex5Format.scale(weights, block) * levels(weights, block, x, i);
            block += Ex5Format.BYTES;
        }
        return sum;
    }

    /// Four sums, so that an addition need not wait for the one before it.
    private static float levels(MemorySegment weights, long block, float[] x, int at) {
        float a = 0;
        float b = 0;
        float c = 0;
        float d = 0;
        for (int i = 0; i < Ex5Format.SIZE; i += 8) {
            long group = Ex5Format.group(weights, block, i);
            int low = (int) group;
            int high = (int) (group >> 20);
            a += ((low & 31) - 16) * x[at + i];
            b += ((low >> 5 & 31) - 16) * x[at + i + 1];
            c += ((low >> 10 & 31) - 16) * x[at + i + 2];
            d += ((low >> 15 & 31) - 16) * x[at + i + 3];
            a += ((high & 31) - 16) * x[at + i + 4];
            b += ((high >> 5 & 31) - 16) * x[at + i + 5];
            c += ((high >> 10 & 31) - 16) * x[at + i + 6];
            d += ((high >> 15 & 31) - 16) * x[at + i + 7];
        }
        return a + b + (c + d);
    }
}
