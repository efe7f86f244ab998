package dev.tenon.platform.core.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.Dry;
import dev.tenon.api.text.DynamicTemperature;
import dev.tenon.api.text.Mirostat;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.SamplingStage;
import dev.tenon.api.text.Xtc;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Draws of the platform's sampler against the probabilities of [ReferenceSampling]: by Freedman's inequality a right
/// sampler stays inside the bounds but once in a million seeds, also where each draw depends on those before.
class SamplerDistributionTests {
    private static final int VOCABULARY = 24;
    private static final int DRAWS = 30_000;
    private static final double FALSE_ALARMS = 1e-6;
    /// Ends with what stood in it before, which DRY sees: `3 5 8`, then came 9, and `5 8`, then came 2.
    private static final int[] HISTORY = {3, 5, 8, 9, 1, 5, 8, 2, 7, 3, 5, 8};

    private static SamplingParams.Builder all() {
        return SamplingParams.builder().temperature(1).topK(0).topP(1).minP(0).seed(71);
    }

    private static float[] logits() {
        SplittableRandom random = new SplittableRandom(5);
        float[] logits = new float[VOCABULARY];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) (1.3 * random.nextGaussian());
        }
        logits[4] = Float.NEGATIVE_INFINITY; // what a mask leaves out
        logits[9] = 2.5f;
        return logits;
    }

    private static Map<String, SamplingParams> cases() {
        Dry dry = new Dry(0.8f, 1.75f, 2, -1, List.of());
        List<SamplingStage> turned = List.of(
                SamplingStage.TEMPERATURE,
                SamplingStage.XTC,
                SamplingStage.TOP_P,
                SamplingStage.DRY,
                SamplingStage.TOP_K,
                SamplingStage.PENALTIES);
        SamplingParams.Builder every = all().temperature(0.9f)
                .topK(18)
                .topP(0.97f)
                .minP(0.01f)
                .typicalP(0.98f)
                .topNSigma(2)
                .repeatPenalty(1.2f)
                .presencePenalty(0.2f)
                .frequencyPenalty(0.1f)
                .logitBias(Map.of(2, 1f, 6, Float.NEGATIVE_INFINITY))
                .dry(dry)
                .xtc(new Xtc(0.4f, 0.1f))
                .dynamicTemperature(new DynamicTemperature(0.4f, 1.5f));
        return Map.ofEntries(
                Map.entry("temperature", all().temperature(0.7f).build()),
                Map.entry(
                        "top-k, top-p, min-p",
                        all().topK(12).topP(0.9f).minP(0.05f).build()),
                Map.entry("typical", all().typicalP(0.8f).build()),
                Map.entry("top-n-sigma", all().topNSigma(1).build()),
                Map.entry("xtc always", all().xtc(new Xtc(1, 0.08f)).build()),
                Map.entry("xtc at times", all().xtc(new Xtc(0.35f, 0.08f)).build()),
                Map.entry("xtc off", all().xtc(new Xtc(1, 0.51f)).build()),
                Map.entry(
                        "dynamic temperature",
                        all().temperature(0.8f)
                                .dynamicTemperature(new DynamicTemperature(0.6f, 1.3f))
                                .build()),
                Map.entry(
                        "dynamic temperature around 0",
                        all().temperature(0)
                                .dynamicTemperature(new DynamicTemperature(0.9f, 1))
                                .build()),
                Map.entry("dry", all().dry(dry).build()),
                Map.entry(
                        "dry with breakers",
                        all().dry(new Dry(2, 1.2f, 1, 8, List.of(List.of(7), List.of(1, 5))))
                                .build()),
                Map.entry(
                        "penalties",
                        all().repeatPenalty(1.3f).frequencyPenalty(0.3f).build()),
                Map.entry("all", every.build()),
                Map.entry("another order", every.stages(turned).build()),
                Map.entry(
                        "mirostat 1",
                        all().temperature(0.9f)
                                .repeatPenalty(1.2f)
                                .mirostat(new Mirostat(1, 2.5f, 0.1f))
                                .build()),
                Map.entry("mirostat 2", all().mirostat(new Mirostat(2, 2, 0.2f)).build()));
    }

    @TestFactory
    Stream<DynamicTest> drawsHaveTheProbabilitiesOfTheReference() {
        return cases().entrySet().stream()
                .map(each -> DynamicTest.dynamicTest(
                        each.getKey(), () -> assertEquals("", deviation(each.getValue(), each.getValue()))));
    }

    @Test
    void aWrongSamplerIsFoundOut() {
        Map<String, SamplingParams> cases = cases();
        SamplingParams miro = cases.get("mirostat 2");
        Map.of(
                        cases.get("temperature"),
                        all().temperature(0.73f).build(),
                        cases.get("xtc at times"),
                        all().xtc(new Xtc(0.42f, 0.08f)).build(),
                        cases.get("dry"),
                        all().dry(new Dry(0.7f, 1.75f, 2, -1, List.of())).build(),
                        miro,
                        miro.toBuilder().mirostat(new Mirostat(2, 2.1f, 0.2f)).build())
                .forEach((right, wrong) -> assertFalse(deviation(wrong, right).isEmpty(), wrong::toString));
    }

    @Test
    void theProbabilitiesThatASamplerTellsAreThoseThatItDrewBy() {
        cases().forEach((name, params) -> {
            Sampler sampler = sampler(params);
            ReferenceSampling reference = new ReferenceSampling(params, HISTORY);
            if (params.xtc().probability() > 0 && params.xtc().probability() < 1) {
                return; // depends on chance
            }
            double[] expected = reference.probabilities(logits());
            int token = sampler.sample(logits());
            float[] told = new float[VOCABULARY];
            assertTrue(sampler.probabilities(told));
            assertTrue(told[token] > 0, name);
            for (int id = 0; id < told.length; id++) {
                assertEquals(expected[id], told[id], 2e-5, name + ", token " + id);
            }
        });
    }

    @Test
    void mirostatHasTokensSurpriseAsAskedOnAverage() {
        float[] zipf = new float[400];
        for (int i = 0; i < zipf.length; i++) {
            zipf[i] = (float) (-1.1 * Math.log(i + 1));
        }
        for (int version = 1; version <= 2; version++) {
            SamplingParams params =
                    all().mirostat(new Mirostat(version, 4, 0.1f)).build();
            Sampler sampler = new ChainSampler(params, zipf.length);
            double bits = 0;
            for (int i = 0; i < DRAWS; i++) {
                int token = sampler.sample(zipf.clone());
                float[] told = new float[zipf.length];
                sampler.probabilities(told);
                bits -= Math.log(told[token]) / Math.log(2);
            }
            assertEquals(4, bits / DRAWS, 0.05, "version " + version);
        }
    }

    @Test
    void theSameSeedDrawsTheSameWhateverElseIsDrawn() {
        cases().forEach((name, params) -> {
            Sampler alone = sampler(params);
            int[] tokens = draws(alone, 200);
            Sampler beside = sampler(params);
            Sampler other = sampler(params.toBuilder().seed(99).build());
            int[] again = new int[tokens.length];
            for (int i = 0; i < again.length; i++) {
                again[i] = beside.sample(logits());
                other.sample(logits());
            }
            assertEquals(Arrays.toString(tokens), Arrays.toString(again), name);
            assertFalse(
                    Arrays.equals(
                            tokens, draws(sampler(params.toBuilder().seed(98).build()), 200)),
                    name);
        });
    }

    private static int[] draws(Sampler sampler, int count) {
        int[] tokens = new int[count];
        for (int i = 0; i < count; i++) {
            tokens[i] = sampler.sample(logits());
        }
        return tokens;
    }

    private static Sampler sampler(SamplingParams params) {
        Sampler sampler = new ChainSampler(params, VOCABULARY);
        for (int token : HISTORY) {
            sampler.accept(token);
        }
        return sampler;
    }

    /// {@return what is wrong with the draws of some parameters; empty if nothing is}
    private static String deviation(SamplingParams drawn, SamplingParams expected) {
        Sampler sampler = sampler(drawn);
        ReferenceSampling reference = new ReferenceSampling(expected, HISTORY);
        double[] sums = new double[VOCABULARY];
        double[] variances = new double[VOCABULARY];
        int[] counts = new int[VOCABULARY];
        double[] p = reference.probabilities(logits());
        for (int i = 0; i < DRAWS; i++) {
            if (expected.mirostat().version() > 0) {
                p = reference.probabilities(logits());
            }
            int token = sampler.sample(logits());
            reference.drew(token);
            counts[token]++;
            for (int id = 0; id < VOCABULARY; id++) {
                sums[id] += p[id];
                variances[id] += p[id] * (1 - p[id]);
            }
        }
        StringBuilder wrong = new StringBuilder();
        double log = Math.log(2 * VOCABULARY / FALSE_ALARMS);
        for (int id = 0; id < VOCABULARY; id++) {
            double most = sums[id] == 0 ? 0 : log / 3 + Math.sqrt(log * log / 9 + 2 * variances[id] * log);
            if (Math.abs(counts[id] - sums[id]) > most) {
                wrong.append("token %d: %d draws, expected %.1f +- %.1f%n".formatted(id, counts[id], sums[id], most));
            }
        }
        return wrong.toString();
    }
}
