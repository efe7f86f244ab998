package dev.tenon.backend.cpu.vector.kernel.states;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both forms give the same bits, for all numbers of columns that a piece of work may have.
class StateMathTests {
    private static final int TOKENS = 5;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 7, 8, 16, 17, 31, 32, 48, 63, 64})
    void bothFormsGiveTheSameBits(int columns) {
        for (int rows : new int[] {1, 2, 16, 33}) {
            same(StateMath::scan, rows, columns);
            same(StateMath::correct, rows, columns);
        }
    }

    private static void same(BiConsumer<StateMath, StateWork> op, int rows, int columns) {
        StateWork plain = work(rows, columns);
        StateWork vector = work(rows, columns);
        StateMath vectors = new VectorStateMath();
        for (int t = 0; t < TOKENS; t++) {
            op.accept(StateMath.SCALAR, plain);
            op.accept(vectors, vector);
            assertArrayEquals(plain.out, vector.out, "results");
            assertArrayEquals(plain.state, vector.state, "state");
        }
    }

    private static StateWork work(int rows, int columns) {
        Random random = new Random(31L * rows + columns);
        StateWork work = new StateWork();
        work.rows = rows;
        work.columns = columns;
        work.at = 3;
        work.state = values(random, rows * columns + 5);
        work.in = values(random, 2 * rows + columns + 4);
        work.key = 1;
        work.query = rows + 2;
        work.column = 2 * rows + 3;
        work.out = values(random, columns + 2);
        work.to = 1;
        work.decay = 0.9f;
        work.strength = 0.3f;
        work.keyFactor = 0.2f;
        work.queryFactor = 0.7f;
        return work;
    }

    private static float[] values(Random random, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }
}
