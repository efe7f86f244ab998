package dev.tenon.backend.cpu.vector.kernel.lowrank;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both forms give the same bits, for all numbers of rows and elements that a piece of work may have.
class LowRankMathTests {
    private static final LowRankMath VECTORS = new VectorLowRankMath();
    private static final int WIDTH = LowRankMath.PIECE + 48;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8, 9, 17})
    void bothFormsGiveTheSameProductsWithTheFirstMatrix(int rows) {
        int ranks = 2 * VECTORS.lanes();
        Random random = new Random(rows);
        float[] a = values(random, WIDTH * ranks);
        float[] x = values(random, 3 * rows * WIDTH);
        int[] numbers = everyThird(rows);
        float[] plain = new float[3 * rows * ranks];
        float[] vector = new float[plain.length];
        LowRankPair pair = new LowRankPair(a, ranks, new float[0], ranks);
        LowRankMath.SCALAR.down(pair, x, WIDTH, numbers, 0, rows, plain);
        VECTORS.down(pair, x, WIDTH, numbers, 0, rows, vector);
        assertArrayEquals(plain, vector);
        float[] pieces = new float[2 * ranks];
        for (LowRankMath form : List.of(LowRankMath.SCALAR, VECTORS)) {
            Arrays.fill(pieces, 7);
            form.piece(pair, Arrays.copyOfRange(x, numbers[0] * WIDTH, x.length), 0, pieces);
            form.piece(pair, Arrays.copyOfRange(x, numbers[0] * WIDTH, x.length), 1, pieces);
            for (int k = 0; k < ranks; k++) {
                assertEquals(plain[numbers[0] * ranks + k], pieces[k] + pieces[ranks + k]);
            }
        }
        double expected = 0;
        for (int c = 0; c < WIDTH; c++) {
            expected += (double) x[numbers[0] * WIDTH + c] * a[c * ranks + 1];
        }
        assertEquals(expected, plain[numbers[0] * ranks + 1], 1e-4);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 15, 16, 31, 64, 65, 130})
    void bothFormsAddTheSameProductsWithTheSecondMatrix(int n) {
        int rank = 5;
        int ranks = 16;
        int rows = 5;
        int stride = n + 2;
        Random random = new Random(n);
        float[] b = values(random, rank * WIDTH);
        float[] down = values(random, 3 * rows * ranks);
        float[] before = values(random, 3 * rows * stride + 1);
        for (int count = 1; count <= rows; count++) {
            float[] plain = before.clone();
            float[] vector = before.clone();
            int[] numbers = everyThird(rows);
            int from = count % 2 == 0 ? 7 : 16;
            LinearCall call = new LinearCall(MemorySegment.NULL).rows(from, n);
            LowRankPair plainPair = new LowRankPair(new float[0], ranks, b, rank);
            LowRankPair vectorPair = new LowRankPair(new float[0], ranks, blocks(b, rank), rank);
            LowRankMath.SCALAR.up(plainPair, call.to(new HostFloats(plain), 1, stride), down, numbers, count);
            VECTORS.up(vectorPair, call.to(new HostFloats(vector), 1, stride), down, numbers, count);
            assertArrayEquals(plain, vector);
            double expected = before[1 + numbers[0] * stride];
            for (int k = 0; k < rank; k++) {
                expected += (double) down[numbers[0] * ranks + k] * b[from * rank + k];
            }
            assertEquals(expected, plain[1 + numbers[0] * stride], 1e-5);
            assertEquals(before[1 + stride], plain[1 + stride], "a row that is not among them");
        }
    }

    /// A matrix of rows as the vector form wants it.
    private static float[] blocks(float[] b, int rank) {
        float[] blocks = new float[b.length];
        for (int row = 0; row < b.length / rank; row++) {
            for (int k = 0; k < rank; k++) {
                blocks[VECTORS.index(row, k, rank)] = b[row * rank + k];
            }
        }
        return blocks;
    }

    private static int[] everyThird(int rows) {
        return IntStream.range(0, rows).map(i -> 3 * i).toArray();
    }

    private static float[] values(Random random, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }
}
