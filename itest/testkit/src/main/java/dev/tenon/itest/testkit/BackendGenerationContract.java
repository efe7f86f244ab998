package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.HostGenerator;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The part of [BackendContract] that is about tokens chosen on the device; skipped where a plan
/// has no [TokenGenerator].
public abstract class BackendGenerationContract extends BackendBatchContract {
    private static final int POSITIONS = 48;
    private static final int STEPS = 20;
    private static final int SEQUENCES = 3;

    /// For subclasses.
    protected BackendGenerationContract() {}

    /// A plan with sequences whose prompts have run but for the last token.
    private final class Run implements AutoCloseable {
        final Model model;
        final Plan plan;
        final List<List<Integer>> sequences = new ArrayList<>();
        final int[][] tables = new int[SEQUENCES][];

        Run() {
            this(llama());
        }

        Run(Model model) {
            this.model = model;
            plan = device().compiler().compile(settings(8, SEQUENCES, POSITIONS).request(model, 8 * POSITIONS));
            int perPage = plan.kvPages().tokensPerPage();
            int pages = (POSITIONS + perPage - 1) / perPage;
            for (int s = 0; s < SEQUENCES; s++) {
                tables[s] = new int[pages];
                for (int i = 0; i < pages; i++) {
                    // Neighbours in a sequence are no neighbours in the cache.
                    tables[s][i] = i * SEQUENCES + (SEQUENCES - 1 - s);
                }
            }
            restart();
        }

        void restart() {
            sequences.clear();
            for (int s = 0; s < SEQUENCES; s++) {
                List<Integer> prompt = new ArrayList<>();
                for (int token : tokens(70 + s, 5 - s, model.vocabularySize())) {
                    prompt.add(token);
                }
                sequences.add(prompt);
                for (int p = 0; p < prompt.size() - 1; p++) {
                    step(s, prompt.get(p), p);
                }
            }
        }

        /// Logits after one token.
        float[] step(int sequence, int token, int position) {
            StepInput input = new StepInput();
            input.addSequence(tables[sequence]);
            input.addToken(token, position, true);
            StepResult result = plan.run(input);
            float[] logits = new float[model.vocabularySize()];
            result.logits(0, logits);
            return logits;
        }

        TokenGenerator generator() {
            assumeTrue(plan.generator().isPresent(), "the backend does not choose tokens");
            return plan.generator().get();
        }

        StepInput input() {
            StepInput input = new StepInput();
            for (int s = 0; s < SEQUENCES; s++) {
                input.addSequence(tables[s]);
                input.addToken(sequences.get(s).getLast(), sequences.get(s).size() - 1, true);
            }
            return input;
        }

        /// Generates, and gives the tokens of each sequence after its prompt.
        void generate(List<TokenSampling> choices, int most, int enough) {
            int[] heard = {0};
            generator().generate(input(), choices, most, tokens -> {
                assertEquals(SEQUENCES, tokens.length, "tokens of a step");
                for (int s = 0; s < SEQUENCES; s++) {
                    sequences.get(s).add(tokens[s]);
                }
                return ++heard[0] < enough;
            });
            assertEquals(Math.min(most, enough), heard[0], "steps heard of");
        }

        @Override
        public void close() {
            plan.close();
            model.close();
        }
    }

    private static List<TokenSampling> all(TokenSampling choice) {
        return Collections.nCopies(SEQUENCES, choice);
    }

    /// How many tokens have a better logit than one, beyond rounding.
    private static int better(float[] logits, int token) {
        float enough = logits[token] + 1e-2f * spread(logits);
        int better = 0;
        for (float logit : logits) {
            better += logit > enough ? 1 : 0;
        }
        return better;
    }

    private static float spread(float[] logits) {
        float spread = 0;
        for (float logit : logits) {
            spread = Math.max(spread, Math.abs(logit));
        }
        return spread;
    }

    @Test
    void greedyTokensOfTheDeviceAreTheBestOfTheLogits() {
        try (Run run = new Run()) {
            run.generate(all(TokenSampling.GREEDY), STEPS, STEPS);
            for (int s = 0; s < SEQUENCES; s++) {
                List<Integer> sequence = run.sequences.get(s);
                int prompt = sequence.size() - STEPS;
                for (int p = 0; p + 1 < sequence.size(); p++) {
                    float[] logits = run.step(s, sequence.get(p), p);
                    if (p + 1 >= prompt) {
                        assertEquals(0, better(logits, sequence.get(p + 1)), "sequence " + s + ", position " + p);
                    }
                }
            }
        }
    }

    @Test
    void aGenerationEndsWhenTheSinkHasEnoughAndStepsGoOnBehindIt() {
        try (Run run = new Run()) {
            run.generate(all(TokenSampling.GREEDY), STEPS, 4);
            run.generate(all(TokenSampling.GREEDY), 3, STEPS);
            List<Integer> sequence = run.sequences.get(1);
            int[] tokens = sequence.stream().mapToInt(i -> i).toArray();
            double[][] expected = new Reference(run.model.graph(), run.model.weights())
                    .newSequence()
                    .feed(tokens);
            float[] got = run.step(1, tokens[tokens.length - 1], tokens.length - 1);
            assertClose(
                    run.model.name(),
                    new double[][] {expected[tokens.length - 1]},
                    new float[][] {got},
                    tolerance("model", 256));
        }
    }

    @Test
    void eachSequenceIsSampledInItsOwnWayAndASeedGivesTheSameTokens() {
        try (Run run = new Run()) {
            List<TokenSampling> choices = List.of(
                    new TokenSampling(
                            SamplingParams.greedyBuilder()
                                    .temperature(4)
                                    .topK(5)
                                    .seed(11)
                                    .build(),
                            0),
                    TokenSampling.GREEDY,
                    new TokenSampling(
                            SamplingParams.greedyBuilder()
                                    .temperature(4)
                                    .topK(40)
                                    .topP(0.999f)
                                    .minP(0.001f)
                                    .seed(1L << 40)
                                    .build(),
                            7));
            TokenGenerator generator = run.generator();
            assumeTrue(choices.stream().allMatch(generator::supports), "the backend does not sample from top-k");
            run.generate(choices, STEPS, STEPS);
            List<List<Integer>> first = List.copyOf(run.sequences);
            for (int s = 0; s < SEQUENCES; s++) {
                List<Integer> sequence = first.get(s);
                for (int p = 0; p + 1 < sequence.size(); p++) {
                    float[] logits = run.step(s, sequence.get(p), p);
                    if (p + 1 >= sequence.size() - STEPS) {
                        int most = s == 0 ? 5 : s == 1 ? 1 : 40;
                        assertTrue(better(logits, sequence.get(p + 1)) < most, "sequence " + s + ", position " + p);
                    }
                }
            }
            run.restart();
            run.generate(choices, STEPS, STEPS);
            assertEquals(first, run.sequences, "the same seeds");
            run.restart();
            // The numbers are counted: what follows after half of the steps is what would have followed.
            run.generate(choices, STEPS / 2, STEPS);
            run.generate(
                    List.of(
                            new TokenSampling(
                                    SamplingParams.greedyBuilder()
                                            .temperature(4)
                                            .topK(5)
                                            .seed(11)
                                            .build(),
                                    STEPS / 2),
                            TokenSampling.GREEDY,
                            new TokenSampling(
                                    SamplingParams.greedyBuilder()
                                            .temperature(4)
                                            .topK(40)
                                            .topP(0.999f)
                                            .minP(0.001f)
                                            .seed(1L << 40)
                                            .build(),
                                    7 + STEPS / 2)),
                    STEPS / 2,
                    STEPS);
            assertEquals(first, run.sequences, "in two halves");
            run.restart();
            run.generate(
                    List.of(
                            new TokenSampling(
                                    SamplingParams.greedyBuilder()
                                            .temperature(4)
                                            .topK(5)
                                            .seed(12)
                                            .build(),
                                    0),
                            TokenSampling.GREEDY,
                            choices.get(2)),
                    STEPS,
                    STEPS);
            assertFalse(first.get(0).equals(run.sequences.get(0)), "another seed gives the same tokens");
            assertEquals(first.subList(1, 3), run.sequences.subList(1, 3), "the other sequences");
        }
    }

    @Test
    void whatAGeneratorDoesNotTakeIsRefusedAndThePlanGoesOn() {
        try (Run run = new Run()) {
            TokenGenerator generator = run.generator();
            StepInput twoTokens = run.input();
            twoTokens.addToken(1, run.sequences.getLast().size(), true);
            assertThrows(
                    IllegalArgumentException.class,
                    () -> generator.generate(twoTokens, all(TokenSampling.GREEDY), 2, tokens -> true));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> generator.generate(run.input(), List.of(TokenSampling.GREEDY), 2, tokens -> true));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> generator.generate(run.input(), all(TokenSampling.GREEDY), 100_000, tokens -> true));
            TokenSampling everything = new TokenSampling(
                    SamplingParams.greedyBuilder().temperature(1).build(), 0);
            if (!generator.supports(everything)) {
                assertThrows(
                        IllegalArgumentException.class,
                        () -> generator.generate(run.input(), all(everything), 2, tokens -> true));
            }
            RuntimeException thrown = assertThrows(
                    IllegalStateException.class,
                    () -> generator.generate(run.input(), all(TokenSampling.GREEDY), 5, tokens -> {
                        throw new IllegalStateException("the sink's own");
                    }));
            assertEquals("the sink's own", thrown.getMessage());
            List<List<Integer>> before =
                    run.sequences.stream().map(List::copyOf).toList();
            run.generate(all(TokenSampling.GREEDY), 4, 4);
            int[][] once = tail(run, 4);
            run.sequences.clear();
            before.forEach(s -> run.sequences.add(new ArrayList<>(s)));
            run.generate(all(TokenSampling.GREEDY), 4, 4);
            assertArrayEquals(once, tail(run, 4), "the same generation once more");
        }
    }

    /// Sequence 0 goes on by a token, sequence 1 by one whose logits are wanted, sequence 2 by a
    /// piece of a prompt.
    private static StepInput mixed(Run run, TokenSampling first, TokenSampling last) {
        StepInput input = new StepInput();
        for (int s = 0; s < SEQUENCES; s++) {
            List<Integer> sequence = run.sequences.get(s);
            int position = sequence.size() - 1;
            input.addSequence(run.tables[s]);
            if (s == 0) {
                input.addToken(sequence.getLast(), position, first);
            } else if (s == 1) {
                input.addToken(sequence.getLast(), position, true);
            } else {
                int[] piece = tokens(90, 4, run.model.vocabularySize());
                input.addToken(sequence.getLast(), position, false);
                for (int i = 0; i < piece.length - 1; i++) {
                    input.addToken(piece[i], position + 1 + i, false);
                }
                input.addToken(piece[piece.length - 1], position + piece.length, last);
            }
        }
        return input;
    }

    @Test
    void aStepMayMixRowsThatTheDeviceChoosesFromWithOthers() {
        try (Run run = new Run()) {
            StepInput plain = mixed(run, TokenSampling.GREEDY, TokenSampling.GREEDY);
            float[][] expected = new float[SEQUENCES][run.model.vocabularySize()];
            StepResult result = run.plan.run(plain);
            int[] greedy = new int[SEQUENCES];
            for (int s = 0; s < SEQUENCES; s++) {
                greedy[s] = result.token(s);
                result.logits(s, expected[s]);
                assertEquals(greedy[s], result.token(s), "the token after row " + s + ", asked for once more");
            }
            assertEquals(-1, greedy[1], "the token after a row that is the host's");
            assumeTrue(greedy[0] >= 0 || greedy[2] >= 0, "the backend chooses no tokens in steps that mix");
            for (int s = 0; s < SEQUENCES; s += 2) {
                assertEquals(0, better(expected[s], greedy[s]), "row " + s);
            }
            TokenSampling few = new TokenSampling(
                    SamplingParams.greedyBuilder()
                            .temperature(4)
                            .topK(5)
                            .seed(11)
                            .build(),
                    3);
            TokenSampling most = new TokenSampling(
                    SamplingParams.greedyBuilder().temperature(4).seed(11).build(), 3);
            int[] drawn = null;
            for (TokenSampling first : List.of(few, most, few)) {
                run.restart();
                result = run.plan.run(mixed(run, first, few));
                int[] now = {result.token(0), result.token(1), result.token(2)};
                assertEquals(-1, now[1], "the token after a row that is the host's");
                float[][] logits = new float[SEQUENCES][run.model.vocabularySize()];
                for (int s = SEQUENCES - 1; s >= 0; s--) {
                    result.logits(s, logits[s]);
                    if (now[s] >= 0) {
                        int among = s == 0 && first == most ? run.model.vocabularySize() : 5;
                        assertTrue(better(expected[s], now[s]) < among, "row " + s);
                    }
                }
                for (int s = 0; s < SEQUENCES; s++) {
                    assertArrayEquals(expected[s], logits[s], 1e-3f * spread(logits[s]), "logits of row " + s);
                }
                if (first == few) {
                    drawn = drawn == null ? now : drawn;
                    assertArrayEquals(drawn, now, "the same seed");
                }
            }
        }
    }

    /// Masks of a vocabulary: all tokens, every third one, those of an upper part, a single one, none.
    private static List<long[]> masks(int vocabulary) {
        List<IntPredicate> has = List.of(
                id -> true, id -> id % 3 == 1, id -> id > vocabulary / 2, id -> id == vocabulary - 1, id -> false);
        List<long[]> masks = new ArrayList<>();
        for (IntPredicate one : has) {
            long[] words = new long[Math.ceilDiv(vocabulary, Long.SIZE)];
            IntStream.range(0, vocabulary).filter(one).forEach(id -> words[id / Long.SIZE] |= 1L << id);
            masks.add(words);
        }
        return masks;
    }

    @Test
    void theDeviceChoosesAmongTheTokensOfAMask() {
        // A vocabulary that devices share out among several blocks.
        Shape shape = new Shape(2, 64, 4, 2, 16, 96, 3001);
        try (Run run = new Run(RandomModels.llamaLike(1, TestFormats.F32, shape))) {
            assumeTrue(run.plan.takesMasks(), "the backend takes no masks");
            SamplingParams.Builder hot = SamplingParams.greedyBuilder().temperature(4);
            List<TokenSampling> ways = List.of(
                    TokenSampling.GREEDY,
                    new TokenSampling(hot.topK(5).seed(11).build(), 3),
                    new TokenSampling(
                            hot.topK(200).topP(0.9f).minP(0.01f).seed(12).build(), 0));
            List<long[]> masks = masks(run.model.vocabularySize());
            int chosen = 0;
            for (int i = 0; i < 3 * ways.size() * masks.size(); i++) {
                StepInput input = new StepInput();
                List<TokenSampling> how = new ArrayList<>();
                List<long[]> among = new ArrayList<>();
                for (int s = 0; s < SEQUENCES; s++) {
                    how.add(ways.get((i + s) % ways.size()));
                    // One row of three steps has none.
                    among.add(s == i % 3 ? null : masks.get((i / 3 + 2 * s) % masks.size()));
                    List<Integer> sequence = run.sequences.get(s);
                    input.addSequence(run.tables[s]);
                    input.addToken(sequence.getLast(), sequence.size() - 1, how.get(s), among.get(s));
                }
                StepResult result = run.plan.run(input);
                int[] tokens = IntStream.range(0, SEQUENCES).map(result::token).toArray();
                float[] logits = new float[run.model.vocabularySize()];
                for (int s = 0; s < SEQUENCES; s++) {
                    result.logits(s, logits);
                    int expected = HostGenerator.sample(logits, among.get(s), how.get(s), 0);
                    assertTrue(
                            tokens[s] == -1 || tokens[s] == expected,
                            "step " + i + ", row " + s + ": token " + tokens[s] + " instead of " + expected);
                    chosen += tokens[s] >= 0 && among.get(s) != null ? 1 : 0;
                }
            }
            assertTrue(chosen > 0, "the backend takes masks, and chose no token by one");
        }
    }

    @Test
    void stepsAndGenerationsFollowAStepThatMixes() {
        try (Run run = new Run()) {
            run.generator();
            run.generate(all(TokenSampling.GREEDY), 6, 6);
            int[][] once = tail(run, 6);
            run.restart();
            run.plan.run(mixed(run, TokenSampling.GREEDY, TokenSampling.GREEDY));
            run.generate(all(TokenSampling.GREEDY), 6, 6);
            assertArrayEquals(once, tail(run, 6));
        }
    }

    private static int[][] tail(Run run, int count) {
        return run.sequences.stream()
                .map(s -> s.subList(s.size() - count, s.size()).stream()
                        .mapToInt(i -> i)
                        .toArray())
                .toArray(int[][]::new);
    }
}
