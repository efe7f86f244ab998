package org.example.ex5;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The kernel says what the decoder says.
class Ex5RowKernelTests {
    private static final int ROWS = 7;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 17})
    void rowsAreMultipliedAsTheyDecode(int blocks) {
        int n = blocks * Ex5Format.SIZE;
        Ex5Format format = new Ex5Format();
        Random random = new Random(blocks);
        float[] values = gaussian(random, ROWS * n);
        float[] x = gaussian(random, n + 3);
        long rowBytes = format.bytesFor(n);
        MemorySegment weights = MemorySegment.ofArray(new byte[Math.toIntExact(ROWS * rowBytes)]);
        format.quantize(values, 0, weights, 0, values.length);

        float[] out = new float[ROWS + 2];
        Arrays.fill(out, Float.NaN);
        new Ex5RowKernel().dot(weights.asReadOnly(), rowBytes, 2, ROWS - 3, x, 3, n, out, 1);

        float[] row = new float[n];
        for (int r = 0; r < ROWS - 3; r++) {
            format.dequantize(weights, (2 + r) * rowBytes, row, 0, n);
            double expected = 0;
            double size = 0;
            for (int i = 0; i < n; i++) {
                expected += (double) row[i] * x[3 + i];
                size += Math.abs((double) row[i] * x[3 + i]);
            }
            assertEquals(expected, out[1 + r], 1e-6 * Math.sqrt(n) * size, "row " + r);
        }
        assertEquals(Float.NaN, out[0], "in front of the sums");
        assertEquals(Float.NaN, out[ROWS - 2], "after the sums");
    }

    private static float[] gaussian(Random random, int n) {
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }
}
