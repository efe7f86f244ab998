package dev.tenon.backend.cpu.vector.kernel.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.backend.cpu.vector.selection.VectorKernels;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Runs at the width that `tenon.vector.bits` gives; the build runs it for every width.
class AttentionMathTests {
    private static final int TILE = AttentionMath.TILE;

    private final AttentionMath vector = VectorKernels.attention();
    private final Random random = new Random(3);

    private float[] values(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    @ParameterizedTest
    @CsvSource({"1, 64", "4, 64", "5, 7", "7, 128", "16, 80"})
    void everyWidthAndNumberOfRowsGivesTheBitsOfThePlainLoops(int rows, int length) {
        float[] q = values((rows + 1) * length);
        float[] keys = values(TILE * length);
        int stride = AttentionMath.aligned(length);
        float[] tile = values(TILE * stride);
        int[][] ranges = {{0, 64}, {0, 1}, {63, 64}, {5, 40}};
        for (int[] range : ranges) {
            float[][] results = new float[2][];
            for (int form = 0; form < 2; form++) {
                AttentionMath math = form == 0 ? vector : AttentionMath.SCALAR;
                float[] scores = new float[(rows + 1) * TILE + AttentionMath.SPARE];
                float[] max = new float[rows + 1];
                Arrays.fill(max, Float.NEGATIVE_INFINITY);
                float[] sum = new float[rows + 1];
                float[] acc = new float[(rows + 1) * stride];
                SoftmaxRows softmax = new SoftmaxRows(scores, max, sum, new float[rows + 1], acc);
                for (int round = 0; round < 2; round++) {
                    math.scores(q, 1, rows, length, keys, scores);
                    for (int r = 1; r <= rows; r++) {
                        math.weigh(softmax, r, range[0], range[1]);
                    }
                    math.mix(softmax, 1, rows, stride, tile, range[0], range[1]);
                }
                results[form] = Arrays.copyOf(acc, acc.length + 2 * max.length);
                System.arraycopy(max, 0, results[form], acc.length, max.length);
                System.arraycopy(sum, 0, results[form], acc.length + max.length, max.length);
            }
            assertArrayEquals(results[1], results[0], Arrays.toString(range));
        }
    }

    @Test
    void levelsBecomeTheSameNumbersAsInPlainJava() {
        int length = 96;
        byte[] levels = new byte[TILE * length + AttentionMath.LEVEL_SPARE];
        random.nextBytes(levels);
        float[] scales = values(TILE * length / 32);
        float[][] got = new float[2][2 * TILE * 128];
        for (int form = 0; form < 2; form++) {
            AttentionMath math = form == 0 ? vector : AttentionMath.SCALAR;
            float[] tile = new float[TILE * 128];
            math.keyLevels(levels, scales, length, tile);
            System.arraycopy(tile, 0, got[form], 0, tile.length);
            Arrays.fill(tile, 0);
            math.valueLevels(levels, scales, length, 128, 3, 64, tile);
            System.arraycopy(tile, 0, got[form], tile.length, tile.length);
        }
        assertArrayEquals(got[1], got[0]);
    }

    @Test
    void positionsThatAreNotVisibleCountForNothingWhateverTheyHold() {
        float[] scores = new float[TILE + AttentionMath.SPARE];
        Arrays.fill(scores, Float.NaN);
        scores[10] = 2;
        scores[11] = 3;
        float[] max = {Float.NEGATIVE_INFINITY};
        float[] sum = {0};
        vector.weigh(new SoftmaxRows(scores, max, sum, new float[1], new float[0]), 0, 10, 12);
        assertEquals(3f, max[0]);
        assertEquals(1 + Math.exp(-1), sum[0], 1e-6);
        for (int p = 0; p < TILE; p++) {
            assertEquals(p == 11 ? 1 : p == 10 ? Math.exp(-1) : 0, scores[p], 1e-6, "weight " + p);
        }
    }
}
