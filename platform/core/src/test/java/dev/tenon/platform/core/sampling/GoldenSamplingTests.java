package dev.tenon.platform.core.sampling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.text.Dry;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Every case of the golden sampling data: the steps alone and in chains.
class GoldenSamplingTests {
    private static final double PROB_TOLERANCE = 2e-5;

    @TestFactory
    Stream<DynamicTest> stepsGiveTheGoldenTokensAndProbabilities() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode c : cases()) {
            tests.add(DynamicTest.dynamicTest(c.get("name").asText(), () -> check(c)));
        }
        return tests.stream();
    }

    @Test
    void theGoldenDataHasAllItsCases() throws IOException {
        assertEquals(174, cases().size());
    }

    private static JsonNode cases() throws IOException {
        try (InputStream in =
                new GZIPInputStream(GoldenSamplingTests.class.getResourceAsStream("/sampling/cases.json.gz"))) {
            return new ObjectMapper().readTree(in);
        }
    }

    private static void check(JsonNode test) {
        float[] logits = floats(test.get("logits"));
        Candidates c = new Candidates(logits.length);
        c.load(logits);
        for (JsonNode step : test.get("steps")) {
            step(step).apply(c);
        }
        Integer[] order = IntStream.range(0, c.count).boxed().toArray(Integer[]::new);
        Arrays.sort(order, (a, b) -> Integer.compare(c.ids[a], c.ids[b]));
        int[] ids = Arrays.stream(order).mapToInt(i -> c.ids[i]).toArray();
        JsonNode expected = test.get("expected");
        assertArrayEquals(ints(expected.get("ids")), ids, "ids");
        double sum = c.softmax();
        for (int i = 0; i < ids.length; i++) {
            double logit = expected.get("logits").get(i).asDouble();
            assertEquals(logit, c.logits[order[i]], 2e-6 * Math.max(1, Math.abs(logit)), "logit of " + ids[i]);
            double prob = expected.get("probs").get(i).asDouble();
            assertEquals(prob, c.weights[order[i]] / sum, PROB_TOLERANCE, "probability of " + ids[i]);
        }
    }

    private static SamplingStep step(JsonNode s) {
        return switch (s.get("op").asText()) {
            case "temp" -> new Temperature(f(s, "t"));
            case "top_k" -> new TopK(s.get("k").asInt());
            case "top_p" -> new TopP(f(s, "p"));
            case "min_p" -> new MinP(f(s, "p"));
            case "typical" -> new TypicalP(f(s, "p"));
            case "temp_ext" ->
                new EntropyTemperature(Math.max(0, f(s, "t") - f(s, "d")), f(s, "t") + f(s, "d"), f(s, "e"));
            case "top_n_sigma" -> new TopNSigma(f(s, "n"));
            case "xtc" -> new XtcCut(f(s, "p"), f(s, "t"), new SplittableRandom(1));
            case "dry" -> {
                List<List<Integer>> breakers = new ArrayList<>();
                s.get("breakers")
                        .forEach(breaker -> breakers.add(
                                Arrays.stream(ints(breaker)).boxed().toList()));
                yield new DryPenalty(
                        recent(s),
                        new Dry(
                                f(s, "mult"),
                                f(s, "base"),
                                s.get("allowed").asInt(),
                                s.get("last_n").asInt(),
                                breakers));
            }
            case "penalties" -> new Penalties(recent(s), f(s, "repeat"), f(s, "freq"), f(s, "present"));
            default -> throw new IllegalArgumentException("unknown step " + s);
        };
    }

    private static RecentTokens recent(JsonNode s) {
        RecentTokens recent = new RecentTokens(s.get("last_n").asInt());
        for (int id : ints(s.get("last"))) {
            recent.add(id);
        }
        return recent;
    }

    private static float f(JsonNode node, String field) {
        return (float) node.get(field).asDouble();
    }

    private static int[] ints(JsonNode array) {
        return IntStream.range(0, array.size()).map(i -> array.get(i).asInt()).toArray();
    }

    private static float[] floats(JsonNode array) {
        float[] values = new float[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) array.get(i).asDouble();
        }
        return values;
    }
}
