package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// The part of [BackendContract] that is about steps that run again: captured graphs, command lists or lists of kernels
/// give the same bits each time, whatever runs beside them.
public abstract class BackendReplayContract extends BackendGenerationContract {
    private static final int SEQUENCES = 3;
    private static final int POSITIONS = 48;
    private static final int BATCH = 8;
    private static final int PROMPT = 5;

    /// For subclasses.
    protected BackendReplayContract() {}

    /// {@return how often steps run again}
    protected int replays() {
        return 200;
    }

    /// What a step takes from each sequence: so many tokens, beginning after the prompt.
    private enum Shape {
        ONE_TOKEN(1, 0, 0),
        A_TOKEN_OF_EACH(1, 1, 1),
        A_CHUNK(0, 4, 0),
        TOKENS_BESIDE_A_CHUNK(1, 0, 5);

        private final int[] counts;

        Shape(int... counts) {
            this.counts = counts;
        }
    }

    /// A plan whose sequences have run their prompts. Each step writes all positions after the prompt that it reads, so
    /// that its logits do not depend on the steps before it.
    private final class Replayed implements AutoCloseable {
        private final Model model = llama();
        private final Plan plan = device().compiler()
                .compile(settings(BATCH, SEQUENCES, POSITIONS).request(model, BATCH * POSITIONS));
        private final int[][] tables = new int[SEQUENCES][];
        private final int[][] tokens = new int[SEQUENCES][];
        private final Map<Shape, float[][]> first = new EnumMap<>(Shape.class);

        Replayed(long seed) {
            int perPage = plan.kvPages().tokensPerPage();
            int pages = (POSITIONS + perPage - 1) / perPage;
            for (int s = 0; s < SEQUENCES; s++) {
                tables[s] = new int[pages];
                for (int i = 0; i < pages; i++) {
                    tables[s][i] = i * SEQUENCES + s;
                }
                tokens[s] = tokens(seed + s, POSITIONS, model.vocabularySize());
                StepInput prompt = new StepInput();
                prompt.addSequence(tables[s]);
                for (int p = 0; p < PROMPT; p++) {
                    prompt.addToken(tokens[s][p], p, false);
                }
                plan.run(prompt);
            }
            for (Shape shape : Shape.values()) {
                first.put(shape, run(shape));
            }
        }

        private float[][] run(Shape shape) {
            StepInput input = new StepInput();
            int rows = 0;
            for (int s = 0; s < SEQUENCES; s++) {
                int count = shape.counts[s];
                if (count > 0) {
                    input.addSequence(tables[s]);
                    for (int i = 0; i < count; i++) {
                        input.addToken(tokens[s][PROMPT + i], PROMPT + i, i == count - 1);
                    }
                    rows++;
                }
            }
            StepResult result = plan.run(input);
            float[][] logits = new float[rows][model.vocabularySize()];
            for (int row = 0; row < rows; row++) {
                result.logits(row, logits[row]);
            }
            return logits;
        }

        void again(Shape shape, int round) {
            float[][] expected = first.get(shape);
            float[][] got = run(shape);
            for (int row = 0; row < expected.length; row++) {
                // The message is made for a difference alone.
                if (!Arrays.equals(expected[row], got[row])) {
                    assertArrayEquals(expected[row], got[row], shape + ", row " + row + ", round " + round);
                }
            }
        }

        @Override
        public void close() {
            plan.close();
            model.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> aStepThatRunsAgainGivesTheSameBits() {
        return Stream.of(Shape.values())
                .map(shape -> dynamicTest(shape.toString(), () -> {
                    try (Replayed replayed = new Replayed(80)) {
                        for (int round = 0; round < replays() / Shape.values().length; round++) {
                            replayed.again(shape, round);
                        }
                    }
                }));
    }

    @Test
    void stepsThatAlternateGiveTheSameBitsBesideAnotherPlanAndABusyThread() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        try (Replayed replayed = new Replayed(80);
                Replayed other = new Replayed(90);
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            List<Future<?>> load = new ArrayList<>();
            try {
                load.add(threads.submit(() -> {
                    for (int round = 0; !ended.get(); round++) {
                        other.again(Shape.values()[round % Shape.values().length], round);
                    }
                }));
                load.add(threads.submit(() -> {
                    byte[] garbage = new byte[0];
                    while (!ended.get()) {
                        garbage = new byte[garbage.length % 4096 + 64];
                    }
                }));
                for (int round = 0; round < replays(); round++) {
                    replayed.again(Shape.values()[round % Shape.values().length], round);
                }
            } finally {
                ended.set(true);
            }
            for (Future<?> each : load) {
                each.get();
            }
        }
    }
}
