package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What the logits processors of every [LogitsProcessorProvider] have to keep to.
///
/// Which tokens become more or less likely is the processor's own; known answers belong to its own tests.
public abstract class LogitsProcessorContract extends NamedRuleContract<LogitsProcessor> {
    private static final int STEPS = 40;

    /// For subclasses.
    protected LogitsProcessorContract() {}

    /// {@return what is under test}
    protected abstract LogitsProcessorProvider provider();

    @Override
    final String id() {
        return provider().id();
    }

    @Override
    final LogitsProcessor create(String argument, Tokenizer tokenizer) {
        return provider().create(argument, tokenizer);
    }

    @Override
    final void use(LogitsProcessor made, Tokenizer tokenizer) {
        Generation generation = new Generation(made, 1);
        IntStream.range(0, 3).forEach(step -> generation.step());
    }

    /// A sequence of random tokens that begins empty, and the logits after each.
    private final class Generation {
        private final LogitsProcessor processor;
        private final Random random;
        private final int size = tokenizer().vocabularySize();
        private int[] tokens = {};

        Generation(LogitsProcessor processor, long seed) {
            this.processor = processor;
            this.random = new Random(seed);
        }

        float[] given() {
            float[] logits = new float[size];
            for (int id = 0; id < size; id++) {
                logits[id] = (float) (5 * random.nextGaussian());
            }
            return logits;
        }

        float[] step() {
            return step(given());
        }

        /// Processes logits, and takes one of the tokens that are left.
        float[] step(float[] logits) {
            try (LentHistory history = new LentHistory(tokens)) {
                processor.process(history, logits);
            }
            int[] left = IntStream.range(0, size)
                    .filter(id -> logits[id] > Float.NEGATIVE_INFINITY)
                    .toArray();
            tokens = Arrays.copyOf(tokens, tokens.length + 1);
            tokens[tokens.length - 1] = left.length > 0 ? left[random.nextInt(left.length)] : random.nextInt(size);
            return logits;
        }
    }

    private float[][] alone() {
        Generation generation = new Generation(create(), 7);
        return IntStream.range(0, STEPS).mapToObj(step -> generation.step()).toArray(float[][]::new);
    }

    @Test
    void atLeastOneTokenStays() {
        float[][] alone = alone();
        for (int length = 0; length < STEPS; length++) {
            float most = Float.NEGATIVE_INFINITY;
            for (float logit : alone[length]) {
                most = Math.max(most, logit);
            }
            assertTrue(most > Float.NEGATIVE_INFINITY, "every token was masked after " + length + " tokens");
        }
    }

    @Test
    void theSameArgumentGivesTheSameLogits() {
        assertArrayEquals(alone(), alone());
    }

    @Test
    void processorsKnowNothingOfEachOther() {
        float[][] alone = alone();
        Generation generation = new Generation(create(), 7);
        Generation other = new Generation(create(), 8);
        for (int step = 0; step < STEPS; step++) {
            other.step();
            assertArrayEquals(alone[step], generation.step(), "beside another generation, step " + step);
        }
    }

    @Test
    void severalThreadsMayUseTheProvider() {
        float[][] alone = alone();
        onThreads(() -> assertArrayEquals(alone, alone()));
    }

    /// Logits that a mask, or a processor before this one, made negative infinity.
    @Test
    void whatIsMaskedStaysMasked() {
        Generation generation = new Generation(create(), 9);
        for (int step = 0; step < STEPS; step++) {
            float[] logits = generation.given();
            boolean even = step % 2 == 0;
            for (int id = even ? 0 : 1; id < logits.length; id += 2) {
                logits[id] = Float.NEGATIVE_INFINITY;
            }
            generation.step(logits);
            for (int id = even ? 0 : 1; id < logits.length; id += 2) {
                assertEquals(Float.NEGATIVE_INFINITY, logits[id], "token " + id + ", which was masked");
            }
        }
    }

    @Test
    void logitsAreNumbers() {
        for (float scale : new float[] {0, 1e-30f, 1, 1e30f}) {
            Generation generation = new Generation(create(), 10);
            for (int step = 0; step < STEPS; step++) {
                float[] logits = generation.given();
                for (int id = 0; id < logits.length; id++) {
                    logits[id] *= scale;
                }
                for (float logit : generation.step(logits)) {
                    assertFalse(Float.isNaN(logit), "a logit is no number any more");
                    assertTrue(logit < Float.POSITIVE_INFINITY, "a logit is infinite");
                }
            }
        }
    }

    /// The logits of some models have more entries than the tokenizer has tokens.
    @Test
    void nothingBeyondTheVocabularyIsSampled() {
        Generation generation = new Generation(create(), 11);
        for (int step = 0; step < STEPS; step++) {
            float[] given = generation.given();
            float[] logits = Arrays.copyOf(given, given.length + 61);
            Arrays.fill(logits, given.length, logits.length, Float.NEGATIVE_INFINITY);
            generation.step(logits);
            for (int id = given.length; id < logits.length; id++) {
                assertEquals(Float.NEGATIVE_INFINITY, logits[id], "entry " + id + " of " + given.length + " tokens");
            }
        }
    }
}
