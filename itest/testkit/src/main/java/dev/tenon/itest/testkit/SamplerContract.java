package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What the samplers of every [SamplerProvider] have to keep to.
///
/// How likely a token becomes is the sampler's own; known answers belong to its own tests.
public abstract class SamplerContract extends NamedRuleContract<Sampler> {
    private static final int VOCABULARY = 300;
    private static final int TOKENS = 50;
    private static final SamplingParams SEEDED =
            SamplingParams.defaults().toBuilder().seed(3).build();

    /// For subclasses.
    protected SamplerContract() {}

    /// {@return what is under test}
    protected abstract SamplerProvider provider();

    @Override
    final String id() {
        return provider().id();
    }

    @Override
    final Sampler create(String argument, Tokenizer tokenizer) {
        return provider().create(SEEDED, VOCABULARY, argument, tokenizer);
    }

    @Override
    final void use(Sampler made, Tokenizer tokenizer) {
        tokens(made);
    }

    private Sampler create(SamplingParams params) {
        return provider().create(params, VOCABULARY, argument(), tokenizer());
    }

    /// One without a name is used where none is chosen.
    @Override
    @Test
    void theIdIsLowerCaseLettersDigitsAndDashes() {
        if (!id().isEmpty()) {
            super.theIdIsLowerCaseLettersDigitsAndDashes();
        }
    }

    private static Stream<SamplingParams> params() {
        SamplingParams all =
                SamplingParams.builder().topK(0).topP(1).minP(0).seed(1).build();
        return Stream.of(
                SamplingParams.greedy(),
                all.toBuilder().temperature(1).build(),
                all.toBuilder().temperature(0.01f).build(),
                all.toBuilder().temperature(100).build(),
                all.toBuilder().topK(1).build(),
                all.toBuilder().topK(5).build(),
                all.toBuilder().topP(0.1f).build(),
                all.toBuilder().minP(1).build(),
                all.toBuilder().typicalP(0.2f).build(),
                all.toBuilder().repeatPenalty(1.3f).repeatLastN(-1).build(),
                all.toBuilder()
                        .presencePenalty(1)
                        .frequencyPenalty(1)
                        .repeatLastN(8)
                        .build(),
                SamplingParams.builder().seed(-2).build());
    }

    private static Stream<DynamicTest> each(Consumer<SamplingParams> test) {
        return params().map(params -> DynamicTest.dynamicTest(params.toString(), () -> test.accept(params)));
    }

    private static float[] logits(Random random) {
        float[] logits = new float[VOCABULARY];
        for (int i = 0; i < VOCABULARY; i++) {
            logits[i] = (float) (5 * random.nextGaussian());
        }
        return logits;
    }

    private int[] sampled(SamplingParams params) {
        return tokens(create(params));
    }

    private static int[] tokens(Sampler sampler) {
        Random random = new Random(7);
        int[] tokens = new int[TOKENS];
        for (int i = 0; i < TOKENS; i++) {
            tokens[i] = sampler.sample(logits(random));
            sampler.accept(tokens[i]);
        }
        return tokens;
    }

    @TestFactory
    Stream<DynamicTest> tokensAreOfTheVocabulary() {
        return each(params -> {
            for (int token : sampled(params)) {
                assertTrue(token >= 0 && token < VOCABULARY, "token " + token);
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> theSameSeedGivesTheSameTokens() {
        return each(params -> {
            assertArrayEquals(sampled(params), sampled(params));
        });
    }

    @TestFactory
    Stream<DynamicTest> withoutAnArgumentItIsThatWithTheEmptyOne() {
        return each(params -> {
            Sampler empty;
            try {
                empty = provider().create(params, VOCABULARY, "", tokenizer());
            } catch (IllegalArgumentException e) {
                return; // it needs an argument
            }
            assertArrayEquals(tokens(empty), tokens(provider().create(params, VOCABULARY)));
        });
    }

    @Test
    void severalThreadsMayUseTheProvider() {
        int[] alone = sampled(SEEDED);
        onThreads(() -> assertArrayEquals(alone, sampled(SEEDED)));
    }

    @TestFactory
    Stream<DynamicTest> samplersKnowNothingOfEachOther() {
        return each(params -> {
            int[] alone = sampled(params);
            Random random = new Random(7);
            Random others = new Random(8);
            Sampler sampler = create(params);
            Sampler other = create(params);
            for (int expected : alone) {
                other.accept(other.sample(logits(others)));
                int token = sampler.sample(logits(random));
                assertEquals(expected, token, "beside another sequence");
                sampler.accept(token);
            }
        });
    }

    /// A constraint and a processor of logits mask tokens by negative infinity.
    @TestFactory
    Stream<DynamicTest> maskedTokensAreNeverSampled() {
        return each(params -> {
            Random random = new Random(9);
            Sampler sampler = create(params);
            for (int i = 0; i < TOKENS; i++) {
                float[] logits = logits(random);
                int free = 1 + random.nextInt(4);
                boolean[] allowed = new boolean[VOCABULARY];
                for (int n = 0; n < free; n++) {
                    allowed[random.nextInt(VOCABULARY)] = true;
                }
                for (int id = 0; id < VOCABULARY; id++) {
                    logits[id] = allowed[id] ? logits[id] : Float.NEGATIVE_INFINITY;
                }
                int token = sampler.sample(logits);
                assertTrue(allowed[token], "token " + token + " was masked");
                sampler.accept(token);
            }
        });
    }

    @Test
    void temperatureZeroTakesTheBestToken() {
        Random random = new Random(10);
        Sampler sampler = create(SamplingParams.greedy());
        for (int i = 0; i < TOKENS; i++) {
            float[] logits = logits(random);
            int best = 0;
            for (int id = 0; id < VOCABULARY; id++) {
                best = logits[id] > logits[best] ? id : best;
            }
            assertEquals(best, sampler.sample(logits));
            sampler.accept(best);
        }
    }

    @Test
    void aBiasIsAddedToTheLogits() {
        SamplingParams params = SamplingParams.greedyBuilder()
                .logitBias(Map.of(3, Float.NEGATIVE_INFINITY, 4, 2f))
                .build();
        float[] logits = new float[VOCABULARY];
        logits[3] = 9;
        logits[5] = 1;
        assertEquals(4, create(params).sample(logits));
    }

    @TestFactory
    Stream<DynamicTest> whatIsNoNumberIsNeverSampled() {
        return each(params -> {
            float[] some = logits(new Random(11));
            for (int id = 0; id < VOCABULARY; id += 2) {
                some[id] = Float.NaN;
            }
            float[] all = new float[VOCABULARY];
            Arrays.fill(all, Float.NaN);
            for (float[] logits : new float[][] {some, all}) {
                float[] given = logits.clone();
                int token;
                try {
                    token = create(params).sample(logits);
                } catch (RuntimeException e) {
                    assertFalse(e instanceof IndexOutOfBoundsException, e::toString);
                    continue; // it ends the generation, with a reason
                }
                assertFalse(Float.isNaN(given[token]), "token " + token + " has a logit that is no number");
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> logitsOfAnySizeAreSampled() {
        return each(params -> {
            for (float scale : new float[] {0, 1e-30f, 1e30f, -1e30f}) {
                float[] logits = logits(new Random(12));
                for (int id = 0; id < VOCABULARY; id++) {
                    logits[id] *= scale;
                }
                int token = create(params).sample(logits);
                assertTrue(token >= 0 && token < VOCABULARY, "token " + token + " of logits times " + scale);
            }
        });
    }

    /// Tokens may come from a prompt, and from a device that samples in the sampler's place.
    @TestFactory
    Stream<DynamicTest> tokensOfADeviceCountAsSampled() {
        return each(params -> {
            Random random = new Random(7);
            Sampler sampler = create(params);
            if (sampler.sampling().isEmpty()) {
                return; // no device samples in its place
            }
            int[] alone = sampled(params);
            for (int i = 0; i < TOKENS; i++) {
                float[] logits = logits(random);
                if (i % 2 == 0) {
                    sampler.sampled(alone[i]);
                } else {
                    assertEquals(alone[i], sampler.sample(logits), "after " + i + " tokens");
                    sampler.accept(alone[i]);
                }
            }
        });
    }
}
