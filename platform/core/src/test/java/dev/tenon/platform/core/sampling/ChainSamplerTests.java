package dev.tenon.platform.core.sampling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ChainSamplerTests {
    private static final SamplerProvider PROVIDER = new DefaultSamplerProvider();

    private static SamplingParams params(
            float temperature, int topK, float topP, float minP, float typicalP, long seed) {
        return SamplingParams.builder()
                .temperature(temperature)
                .topK(topK)
                .topP(topP)
                .minP(minP)
                .typicalP(typicalP)
                .seed(seed)
                .build();
    }

    private static SamplingParams penalties(float repeat, float presence, float frequency, int lastN) {
        return SamplingParams.builder()
                .temperature(0)
                .topK(0)
                .topP(1)
                .minP(0)
                .repeatPenalty(repeat)
                .presencePenalty(presence)
                .frequencyPenalty(frequency)
                .repeatLastN(lastN)
                .seed(0)
                .build();
    }

    private static float[] randomLogits(int n, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] logits = new float[n];
        for (int i = 0; i < n; i++) {
            logits[i] = (float) (random.nextGaussian() * 3);
        }
        return logits;
    }

    @Test
    void temperatureZeroTakesTheBestTokenAndTheLowestIdAmongEquals() {
        Sampler sampler = PROVIDER.create(SamplingParams.greedy(), 4);
        assertEquals(2, sampler.sample(new float[] {1, -3, 5, 5}));
        assertEquals(0, sampler.sample(new float[] {-7, -7, Float.NEGATIVE_INFINITY, -8}));
        assertEquals(0, PROVIDER.create(params(0, 40, 0.5f, 0.1f, 0.9f, 1), 1).sample(new float[] {-1}));
    }

    @Test
    void aDeviceGoesOnWhereTheHostStopped() {
        SamplingParams params = params(0.8f, 40, 0.95f, 0.05f, 1, 42);
        Sampler host = PROVIDER.create(params, 5000);
        Sampler mixed = PROVIDER.create(params, 5000);
        for (int i = 0; i < 60; i++) {
            float[] logits = randomLogits(5000, i);
            if (i % 7 == 0) {
                Arrays.fill(logits, Float.NEGATIVE_INFINITY);
                logits[i] = 1; // one candidate uses up a random number too
            }
            int expected = host.sample(logits.clone());
            host.accept(expected);
            TokenSampling choice = mixed.sampling().orElseThrow();
            assertEquals(
                    new TokenSampling(
                            SamplingParams.greedyBuilder()
                                    .temperature(0.8f)
                                    .topK(40)
                                    .topP(0.95f)
                                    .minP(0.05f)
                                    .seed(42)
                                    .build(),
                            i),
                    choice);
            if (i % 3 == 0) {
                mixed.sampled(expected);
            } else {
                assertEquals(expected, mixed.sample(logits), "token " + i);
                mixed.accept(expected);
            }
        }
    }

    @Test
    void aDeviceCannotChooseByWhatItDoesNotSee() {
        assertEquals(
                TokenSampling.GREEDY,
                PROVIDER.create(SamplingParams.greedy(), 9).sampling().orElseThrow());
        assertTrue(PROVIDER.create(penalties(1.1f, 0, 0, 64), 9).sampling().isEmpty(), "penalty");
        assertTrue(PROVIDER.create(params(1, 40, 1, 0, 0.9f, 1), 9).sampling().isEmpty(), "typical-p");
        SamplingParams biased = SamplingParams.builder()
                .temperature(0)
                .topK(0)
                .topP(1)
                .minP(0)
                .logitBias(Map.of(3, 1f))
                .seed(0)
                .build();
        assertTrue(PROVIDER.create(biased, 9).sampling().isEmpty(), "bias");
    }

    @Test
    void sameSeedGivesTheSameTokensAndAnotherSeedGivesOthers() {
        int[][] runs = new int[3][];
        for (int run = 0; run < 3; run++) {
            Sampler sampler = PROVIDER.create(params(0.8f, 40, 0.95f, 0.05f, 1, run == 2 ? 43 : 42), 5000);
            runs[run] = IntStream.range(0, 200)
                    .map(i -> {
                        int id = sampler.sample(randomLogits(5000, i));
                        sampler.accept(id);
                        return id;
                    })
                    .toArray();
        }
        assertArrayEquals(runs[0], runs[1]);
        assertFalse(Arrays.equals(runs[0], runs[2]));
    }

    @Test
    void seedMinusOneIsRandom() {
        float[] flat = new float[1 << 16];
        Sampler a = PROVIDER.create(params(1, 0, 1, 0, 1, -1), flat.length);
        Sampler b = PROVIDER.create(params(1, 0, 1, 0, 1, -1), flat.length);
        int[] idsA = IntStream.range(0, 8).map(i -> a.sample(flat)).toArray();
        int[] idsB = IntStream.range(0, 8).map(i -> b.sample(flat)).toArray();
        assertFalse(Arrays.equals(idsA, idsB));
    }

    @Test
    void drawsFollowTheSoftmax() {
        float[] logits = {0, 1, 2, -1, 0.5f, -0.5f, 1.5f, 0.25f};
        double sum = 0;
        for (float l : logits) {
            sum += Math.exp(l / 0.7);
        }
        int draws = 100_000;
        Sampler sampler = PROVIDER.create(params(0.7f, 0, 1, 0, 1, 7), logits.length);
        int[] seen = new int[logits.length];
        for (int i = 0; i < draws; i++) {
            seen[sampler.sample(logits.clone())]++;
        }
        double chiSquare = 0;
        for (int i = 0; i < seen.length; i++) {
            double expected = draws * Math.exp(logits[i] / 0.7) / sum;
            chiSquare += (seen[i] - expected) * (seen[i] - expected) / expected;
        }
        // 7 degrees of freedom: 24.32 is the 0.1 percent quantile.
        assertTrue(chiSquare < 24.32, "chi square " + chiSquare);
    }

    @Test
    void onlyTokensThatPassTheFiltersAreDrawn() {
        float[] logits = randomLogits(1000, 3);
        float third = IntStream.range(0, 1000)
                .mapToObj(i -> logits[i])
                .sorted((a, b) -> Float.compare(b, a))
                .skip(2)
                .findFirst()
                .orElseThrow();
        Sampler sampler = PROVIDER.create(params(2, 3, 1, 0, 1, 5), 1000);
        for (int i = 0; i < 500; i++) {
            assertTrue(logits[sampler.sample(logits.clone())] >= third);
        }
    }

    @Test
    void penaltiesLookAtTheLastNTokensOnly() {
        float[] logits = {5, 4, 3};
        Sampler two = PROVIDER.create(penalties(1, 10, 0, 2), 3);
        two.accept(0);
        two.accept(1);
        assertEquals(2, two.sample(logits.clone()));
        two.accept(2);
        assertEquals(0, two.sample(logits.clone()), "token 0 left the window");
        Sampler none = PROVIDER.create(penalties(2, 10, 10, 0), 3);
        none.accept(0);
        assertEquals(0, none.sample(logits.clone()));
        Sampler all = PROVIDER.create(penalties(1, 10, 0, -1), 3);
        all.accept(0);
        for (int i = 0; i < 1000; i++) {
            all.accept(1);
        }
        assertEquals(2, all.sample(logits.clone()));
    }

    @Test
    void frequencyPenaltyCountsOccurrences() {
        Sampler sampler = PROVIDER.create(penalties(1, 0, 0.6f, 64), 2);
        sampler.accept(0);
        assertEquals(0, sampler.sample(new float[] {2, 1}));
        sampler.accept(0);
        assertEquals(1, sampler.sample(new float[] {2, 1}));
    }

    @Test
    void recentTokensCountLikeANaiveList() {
        SplittableRandom random = new SplittableRandom(11);
        for (int limit : new int[] {1, 2, 63, 64, 65, 200, -1}) {
            RecentTokens recent = new RecentTokens(limit);
            int[] all = random.ints(3000, 0, 500).toArray();
            for (int n = 0; n < all.length; n++) {
                recent.add(all[n]);
                int from = limit < 0 ? 0 : Math.max(0, n + 1 - limit);
                assertEquals(n + 1 - from, recent.size());
                if (n % 97 == 0) {
                    int[] expected = new int[500];
                    Arrays.stream(all, from, n + 1).forEach(id -> expected[id]++);
                    int[] counts = new int[500];
                    recent.forEach((id, count) -> counts[id] += count);
                    assertArrayEquals(expected, counts);
                }
            }
        }
    }

    @Test
    void biasMovesAndBansTokens() {
        SamplingParams p = SamplingParams.builder()
                .temperature(0)
                .topK(0)
                .topP(1)
                .minP(0)
                .logitBias(Map.of(0, Float.NEGATIVE_INFINITY, 2, 1.5f, 3, -100f))
                .seed(0)
                .build();
        assertEquals(2, PROVIDER.create(p, 4).sample(new float[] {9, 2, 1, 8}));
    }

    @Test
    void biasOutsideTheVocabularyIsRefused() {
        SamplingParams p = SamplingParams.builder()
                .temperature(0)
                .topK(0)
                .topP(1)
                .minP(0)
                .logitBias(Map.of(4, 1f))
                .seed(0)
                .build();
        assertThrows(IllegalArgumentException.class, () -> PROVIDER.create(p, 4));
    }

    @Test
    void banningEverythingIsATypedError() {
        SamplingParams p = SamplingParams.builder()
                .temperature(1)
                .topK(0)
                .topP(1)
                .minP(0)
                .logitBias(Map.of(0, Float.NEGATIVE_INFINITY, 1, Float.NEGATIVE_INFINITY))
                .seed(0)
                .build();
        assertDataError(p, new float[] {1, 2}, "negative infinity");
    }

    @Test
    void nanInfiniteAndEmptyLogitsAreTypedErrors() {
        float inf = Float.POSITIVE_INFINITY;
        for (SamplingParams p : new SamplingParams[] {SamplingParams.greedy(), SamplingParams.defaults()}) {
            assertDataError(p, new float[] {1, Float.NaN, 2}, "NaN");
            assertDataError(p, new float[] {Float.NaN, Float.NaN}, "NaN");
            assertDataError(p, new float[] {3, 1, inf}, "infinite");
            assertDataError(p, new float[] {-inf, -inf}, "negative infinity");
        }
    }

    private static void assertDataError(SamplingParams params, float[] logits, String word) {
        Sampler sampler = PROVIDER.create(params, logits.length);
        BackendException e = assertThrows(BackendException.class, () -> sampler.sample(logits));
        assertEquals(ErrorCode.MODEL_DATA, e.code());
        assertTrue(e.getMessage().contains(word), e.getMessage());
    }

    @Test
    void wrongRowLengthAndForeignTokensAreRefused() {
        Sampler sampler = PROVIDER.create(SamplingParams.defaults(), 3);
        assertThrows(IllegalArgumentException.class, () -> sampler.sample(new float[4]));
        assertThrows(IllegalArgumentException.class, () -> sampler.accept(3));
        assertThrows(IllegalArgumentException.class, () -> sampler.accept(-1));
    }

    @Test
    void extremeLogitsAndParametersStayFinite() {
        float max = Float.MAX_VALUE;
        float[][] rows = {{max, max}, {-max, -max}, {max, -max}, {Float.MIN_VALUE, 0}, {-0f, 0f}};
        for (float[] row : rows) {
            for (float temperature : new float[] {Float.MIN_VALUE, 1e-30f, 1, 1e30f, max}) {
                for (float p : new float[] {Float.MIN_VALUE, 0.5f, 1}) {
                    SamplingParams params = SamplingParams.builder()
                            .temperature(temperature)
                            .topK(2)
                            .topP(p)
                            .minP(p)
                            .typicalP(p)
                            .repeatPenalty(Float.MIN_VALUE)
                            .presencePenalty(-max)
                            .frequencyPenalty(max)
                            .repeatLastN(4)
                            .logitBias(Map.of(0, -max))
                            .seed(1)
                            .build();
                    Sampler sampler = PROVIDER.create(params, 2);
                    int id = sampler.sample(row.clone());
                    assertTrue(id == 0 || id == 1);
                }
            }
        }
    }

    @Test
    void keepTopAgreesWithSortingEverything() {
        SplittableRandom random = new SplittableRandom(2);
        for (int n : new int[] {1, 2, 3, 10, 100, 1000}) {
            float[] logits = new float[n];
            for (int i = 0; i < n; i++) {
                logits[i] = random.nextInt(20) - 10;
            }
            int[] expected = IntStream.range(0, n)
                    .boxed()
                    .sorted((a, b) ->
                            logits[a] != logits[b] ? Float.compare(logits[b], logits[a]) : Integer.compare(a, b))
                    .mapToInt(i -> i)
                    .toArray();
            for (int k = 1; k <= n + 1; k += 1 + k / 3) {
                Candidates heap = new Candidates(n);
                heap.load(logits);
                heap.keepTop(k);
                assertEquals(Math.min(k, n), heap.count);
                assertArrayEquals(Arrays.copyOf(expected, heap.count), Arrays.copyOf(heap.ids, heap.count));
                Candidates select = new Candidates(n);
                select.load(logits);
                int m = Math.min(k, n);
                select.sortTop(m);
                assertArrayEquals(Arrays.copyOf(expected, m), Arrays.copyOf(select.ids, m));
                int[] sorted = Arrays.copyOf(select.ids, n);
                Arrays.sort(sorted);
                assertArrayEquals(IntStream.range(0, n).toArray(), sorted);
            }
        }
    }

    @Test
    void anOldSeedKeepsItsTokens() {
        Sampler sampler = PROVIDER.create(params(1, 0, 1, 0, 1, 1234), 1000);
        int[] ids =
                IntStream.range(0, 6).map(i -> sampler.sample(new float[1000])).toArray();
        SplittableRandom random = new SplittableRandom(1234);
        int[] expected = IntStream.range(0, 6)
                .map(i -> (int) (random.nextDouble() * 1000))
                .toArray();
        assertArrayEquals(expected, ids);
        assertNotEquals(ids[0], ids[1]);
    }
}
