package dev.tenon.itest.testkit.reference;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.models.TinyGguf;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The reference of experts and encoders against numbers worked out by hand.
class MoreOpsTests {
    private static final Optional<Weight> NONE = Optional.empty();

    private final GraphBuilder b = new GraphBuilder("test");
    private final Map<String, float[]> weights = new HashMap<>();

    private Value table(float[]... rows) {
        float[] flat = new float[rows.length * rows[0].length];
        for (int i = 0; i < flat.length; i++) {
            flat[i] = rows[i / rows[0].length][i % rows[0].length];
        }
        return b.embedding("x", put(new Weight("table", rows[0].length, rows.length), flat));
    }

    private Weight put(Weight weight, float... values) {
        weights.put(weight.name(), values);
        return weight;
    }

    /// Feeds tokens 0, 1, 2 ... in one step.
    private double[][] run(Value output, int tokens) {
        Graph graph = b.build(output);
        try (MemoryWeights memory = new MemoryWeights()) {
            for (Weight weight : graph.weights()) {
                memory.add(weight, TestFormats.F32, TinyGguf.f32(weights.get(weight.name())));
            }
            return new Reference(graph, memory)
                    .newSequence()
                    .feed(IntStream.range(0, tokens).toArray());
        }
    }

    private ExpertOp.Router router(RouterParams params, float... logits) {
        return b.router("r", table(logits), params);
    }

    private void chosen(ExpertOp.Router router, double[] experts, double... shares) {
        assertArrayEquals(experts, run(router.chosen(), 1)[0]);
        assertArrayEquals(shares, run(router.shares(), 1)[0], 1e-7);
    }

    @Test
    void theFactorOfAPositionGrowsAtEachPeriod() {
        double[][] rows =
                run(b.positionScale("s", table(new float[] {2}, new float[] {2}, new float[] {2}), 0.5f, 1, 2), 3);
        double second = 2 * (1 + 0.5 * Math.log(2));
        assertArrayEquals(new double[] {2}, rows[0], 1e-12);
        assertArrayEquals(new double[] {second}, rows[1], 1e-12);
        assertArrayEquals(new double[] {second}, rows[2], 1e-12);
    }

    @Test
    void softmaxSharesAreThoseOfAllExpertsOrOfTheChosenOnes() {
        double sum = Math.exp(1) + Math.exp(3) + Math.exp(2) + Math.exp(0);
        chosen(
                router(RouterParams.builder(Gating.SOFTMAX, 2).build(), 1, 3, 2, 0),
                new double[] {1, 2},
                Math.exp(3) / sum,
                Math.exp(2) / sum);
    }

    @Test
    void normalisedSharesAddUpToTheScale() {
        double best = 1 / (1 + Math.exp(-1));
        RouterParams params = RouterParams.builder(Gating.SOFTMAX, 2)
                .normalise(true)
                .scale(2.5f)
                .build();
        chosen(router(params, 1, 3, 2, 0), new double[] {1, 2}, 2.5 * best, 2.5 * (1 - best));
    }

    @Test
    void theBiasDecidesWhichExpertsButNotTheirShares() {
        Optional<Weight> bias = Optional.of(put(Weight.vector("bias", 3), 0, 0, 1));
        RouterParams params = RouterParams.builder(Gating.SIGMOID, 1).bias(bias).build();
        chosen(router(params, 2, 0, -2), new double[] {2}, 1 / (1 + Math.exp(2)));
    }

    @Test
    void equalScoresGoToTheFirst() {
        chosen(router(RouterParams.builder(Gating.SIGMOID, 2).build(), 0, 0, 0), new double[] {0, 1}, 0.5, 0.5);
    }

    @Test
    void aGroupCountsByItsTwoBest() {
        RouterParams params = RouterParams.builder(Gating.SIGMOID, 2)
                .normalise(true)
                .groups(2)
                .build();
        // The best expert is in the first group, the best two together in the second.
        ExpertOp.Router router = router(params, 3, -9, -9, 2, 1, -9);
        double first = 1 / (1 + Math.exp(-2));
        double second = 1 / (1 + Math.exp(-1));
        chosen(router, new double[] {3, 4}, first / (first + second), second / (first + second));
    }

    @Test
    void eachExpertHasItsMatrixItsBiasAndWhereWantedItsInput() {
        Value x = table(new float[] {1, 10});
        RouterParams two = RouterParams.builder(Gating.SIGMOID, 2).build();
        Weight logits = put(new Weight("logits", 2, 3), 0, 0, 0, 1, 1, 0);
        ExpertOp.Router router = b.router("r", b.linear("l", x, logits, NONE), two);
        Weight experts = put(new Weight("e", 2, 1, 3), 9, 9, 1, 2, 3, 4);
        Optional<Weight> bias = Optional.of(put(new Weight("e.bias", 1, 3), 0, 100, 200));
        Value up = b.expertLinear("up", x, router.chosen(), experts, bias);
        assertArrayEquals(new double[] {1, 2}, run(router.chosen(), 1)[0]);
        assertArrayEquals(new double[] {121, 243}, run(up, 1)[0]);
        Weight down = put(new Weight("d", 1, 2, 3), 7, 7, 1, 2, 3, 4);
        Value out = b.expertLinear("down", up, router.chosen(), down, NONE);
        assertArrayEquals(new double[] {121, 242, 729, 972}, run(out, 1)[0]);
        double share = 1 / (1 + Math.exp(-10));
        double other = 1 / (1 + Math.exp(-1));
        assertArrayEquals(
                new double[] {121 * share + 729 * other, 242 * share + 972 * other},
                run(b.weightedSum("sum", out, router.shares()), 1)[0],
                1e-9);
    }

    @Test
    void layerNormTakesTheMeanAway() {
        Value x = table(new float[] {1, 3, 10, 20});
        Weight weight = put(Weight.vector("w", 2), 1, 2);
        Optional<Weight> bias = Optional.of(put(Weight.vector("b", 2), 5, 6));
        assertArrayEquals(new double[] {4, 8, 4, 8}, run(b.layerNorm("n", x, weight, bias, 0), 1)[0], 1e-12);
    }

    @Test
    void positionsAndRepeatedRowsAreLookedUp() {
        Value x = table(new float[] {0}, new float[] {0});
        Weight positions = put(new Weight("p", 1, 2), 3, 4);
        Weight types = put(new Weight("types", 1, 2), 10, 20);
        Value sum = b.add("sum", b.positionEmbedding("pos", positions), b.repeat("type", types.rows(1, 2)));
        double[][] rows = run(b.add("all", x, sum), 2);
        assertEquals(23, rows[0][0]);
        assertEquals(24, rows[1][0]);
    }

    /// Two heads of one element with shares 1 and -1; dots below 0 do not count. The first head finds 2, 6, 0, 2 in
    /// the keys, the second nothing but 2 in the third.
    @Test
    void positionsWithTheHighestScoresAreChosenTheFirstOfEquals() {
        double[][] rows = run(positions(), 4);
        assertArrayEquals(new double[] {0, -1}, rows[0]);
        assertArrayEquals(new double[] {0, 1}, rows[1]);
        assertArrayEquals(new double[] {0, 1}, rows[2]);
        assertArrayEquals(new double[] {0, 1}, rows[3]);
    }

    private Value positions() {
        Value x = table(new float[] {1}, new float[] {3}, new float[] {-2}, new float[] {1});
        Value q = b.repeat("q", put(Weight.vector("queries", 2), 2, -1));
        Value shares = b.repeat("shares", put(Weight.vector("of", 2), 1, -1));
        return b.selectPositions("positions", q, shares, x, 1, 2);
    }

    /// Scores are all 0: each position that is attended to counts the same.
    @Test
    void othersThanTheSelectedPositionsDoNotCount() {
        Value positions = positions();
        Value values = b.embedding("v", new Weight("table", 1, 4));
        Value out = b.value("out", 1);
        AttentionParams params = AttentionParams.builder(1, 1, 0).build();
        b.add(new SelectedAttention(new CoreOp.Attention(values, values, values, 0, params, out), positions));
        double[][] rows = run(out, 4);
        assertArrayEquals(new double[] {1}, rows[0], 1e-12);
        for (int t = 1; t < 4; t++) {
            assertArrayEquals(new double[] {2}, rows[t], 1e-12);
        }
    }

    /// Scores are all 0: the token's own value, those of whole runs and a sink count the same.
    @Test
    void runsCountFromTheirLastTokenOnWithOneSink() {
        Value near = table(new float[] {1}, new float[] {2}, new float[] {3}, new float[] {4});
        Value far = b.scale("far", near, 10);
        Value out = b.value("out", 1);
        AttentionParams all = AttentionParams.builder(1, 1, 0).build();
        AttentionParams own = all.toBuilder()
                .slidingWindow(1)
                .sinks(Optional.of(put(Weight.vector("sink", 1), 0)))
                .build();
        b.add(new RunAttention(
                new CoreOp.Attention(near, near, near, 0, own, out),
                new CoreOp.Attention(near, far, far, 1, all, out),
                2,
                Optional.empty()));
        double[] expected = {1 / 2.0, (2 + 20) / 3.0, (3 + 20) / 3.0, (4 + 20 + 40) / 4.0};
        double[][] rows = run(out, 4);
        for (int t = 0; t < 4; t++) {
            assertArrayEquals(new double[] {expected[t]}, rows[t], 1e-12);
        }
    }

    /// The weight of the second place of a run is e times that of the first; a run has first channels of the one
    /// before.
    @Test
    void runsHaveMeansThatOverlapWhereTheyAreWide() {
        Value x = table(new float[] {1, 5}, new float[] {2, 6}, new float[] {3, 7}, new float[] {4, 8});
        Value zeros = b.scale("zeros", x, 0);
        Value wide = b.value("wide", 2);
        b.add(new RecurrentOp.RunMean(x, zeros, put(new Weight("places", 2, 2), 0, 0, 1, 1), wide));
        double first = 1 / (1 + Math.E);
        double second = 1 - first;
        double[][] rows = run(wide, 4);
        assertArrayEquals(new double[2], rows[0]);
        assertArrayEquals(new double[] {first + 2 * second, 5 * first + 6 * second}, rows[1], 1e-12);
        assertArrayEquals(new double[2], rows[2]);
        assertArrayEquals(new double[] {3 * first + 4 * second, 7 * first + 8 * second}, rows[3], 1e-12);
        Value half = b.value("half", 1);
        b.add(new RecurrentOp.RunMean(x, zeros, new Weight("places", 2, 2), half));
        rows = run(half, 4);
        assertArrayEquals(new double[] {5 * first + 6 * second}, rows[1], 1e-12);
        assertArrayEquals(new double[] {((1 + 7) * first + (2 + 8) * second) / 2}, rows[3], 1e-12);
    }

    @Test
    void tokensOfARunAreRotatedAsItsFirst() {
        Value x = table(new float[] {1, 0}, new float[] {1, 0}, new float[] {1, 0}, new float[] {1, 0});
        RopeParams back = RopeParams.builder(2, RopeParams.Pairing.INTERLEAVED, 100)
                .run(2)
                .freqScale(-1)
                .build();
        double[][] rows = run(b.rope("r", x, back), 4);
        assertArrayEquals(new double[] {1, 0}, rows[1], 1e-12);
        assertArrayEquals(new double[] {Math.cos(2), -Math.sin(2)}, rows[3], 1e-12);
    }

    @Test
    void onlyLastPositionsOfRunsAreChosen() {
        Value x = table(
                new float[] {9}, new float[] {1}, new float[] {9}, new float[] {3}, new float[] {9}, new float[] {2});
        Value one = b.repeat("one", put(Weight.vector("factor", 1), 1));
        Value out = b.value("positions", 2);
        b.add(new SelectPositions(one, one, x, 0, 2, out));
        double[][] rows = run(out, 6);
        assertArrayEquals(new double[] {-1, -1}, rows[0]);
        assertArrayEquals(new double[] {1, -1}, rows[2]);
        assertArrayEquals(new double[] {3, 5}, rows[5]);
    }

    @Test
    void expertsAreWeighedByTheRootOfSoftplus() {
        double second = Math.sqrt(Math.log(1 + Math.exp(2)));
        double first = Math.sqrt(Math.log(1 + Math.exp(3)));
        chosen(
                router(RouterParams.builder(Gating.SOFTPLUS_ROOT, 2).build(), -1, 3, 2),
                new double[] {1, 2},
                first,
                second);
    }

    private Value attention(Value x, int window, boolean causal, Optional<Weight> sinks) {
        Value out = b.value("out", x.width());
        b.add(new CoreOp.Attention(
                x,
                x,
                x,
                0,
                AttentionParams.builder(1, 1, 1)
                        .slidingWindow(window)
                        .causal(causal)
                        .sinks(sinks)
                        .build(),
                out));
        return out;
    }

    /// {@return what the second of two tokens, 1 and 2, gets: it sees itself with score 4, and the first, a position
    /// away,
    /// with score 2, before the bias}
    private double biased(ScoreBias bias) {
        Value x = table(new float[] {1}, new float[] {2});
        AttentionParams params =
                AttentionParams.builder(1, 1, 1).scoreBias(Optional.of(bias)).build();
        return run(b.attention("out", x, x, x, 0, params), 2)[1][0];
    }

    private static double mixed(double own, double before) {
        return (2 * Math.exp(own) + Math.exp(before)) / (Math.exp(own) + Math.exp(before));
    }

    @Test
    void aSlopeTakesFromScoresOfTokensThatAreAway() {
        assertEquals(mixed(4, 2 - 0.5), biased(ScoreBias.alibi(List.of(0.5f))), 1e-12);
    }

    @Test
    void aTableAddsToScoresByBuckets() {
        Weight buckets = put(new Weight("bias", 1, 4), 1, -3, 100, 100);
        assertEquals(mixed(4 + 1, 2 - 3), biased(ScoreBias.relative(buckets, 9)), 1e-12);
    }

    @Test
    void geluIsAShareOfTheNormalDistribution() {
        Value x = table(new float[] {1}, new float[] {-3}, new float[] {0.5f});
        double[][] rows = run(b.activate("gelu", x, Activation.GELU_ERF), 3);
        assertEquals(0.8413447460685429, rows[0][0], 1e-15);
        assertEquals(-3 * 0.0013498980316300946, rows[1][0], 1e-17);
        assertEquals(0.5 * 0.6914624612740131, rows[2][0], 1e-15);
    }

    @Test
    void eachGroupIsNormedAroundItsMeanWithItsWeight() {
        Weight weight = put(new Weight("w", 2, 2), 1, 2, 3, 4);
        Value x = table(new float[] {5, 7, -1, -9});
        assertArrayEquals(new double[] {-1, 2, 3, -4}, run(b.groupedLayerNorm("n", x, weight, 0), 1)[0], 1e-12);
    }

    @Test
    void aSinkTakesItsShareOfTheWeights() {
        Value out = attention(table(new float[] {2}), 0, true, Optional.of(put(Weight.vector("s", 1), 3)));
        assertEquals(2 * Math.exp(4) / (Math.exp(4) + Math.exp(3)), run(out, 1)[0][0], 1e-12);
    }

    @Test
    void anEncodersTokenSeesWhatFollowsIt() {
        Value out = attention(table(new float[] {0}, new float[] {1}, new float[] {5}), 0, false, NONE);
        assertEquals(2, run(out, 3)[0][0], 1e-12, "all scores of the first token are 0");
    }

    @Test
    void anEncodersWindowIsHalfOnEachSide() {
        float[][] rows = {{0}, {0}, {0}, {6}, {0}, {0}, {0}};
        double[][] got = run(attention(table(rows), 5, false, NONE), 7);
        assertEquals(0, got[0][0], 1e-12);
        assertEquals(6 / 4.0, got[1][0], 1e-12);
        assertEquals(6 / 4.0, got[5][0], 1e-12);
        assertEquals(0, got[6][0], 1e-12);
    }

    @Test
    void poolingTakesTheFirstRowOrTheMean() {
        Value x = table(new float[] {1, 2}, new float[] {3, 6});
        assertArrayEquals(new double[] {1, 2}, run(b.pool("cls", x, Pooling.CLS), 2)[1]);
        assertArrayEquals(new double[] {2, 4}, run(b.pool("mean", x, Pooling.MEAN), 2)[1], 1e-12);
    }

    @Test
    void gatesAndActivationsFollowTheirFormulas() {
        Value gate = table(new float[] {9, -9, 1});
        Value up = b.repeat("up", put(Weight.vector("up", 3), 9, -9, 0.5f));
        assertArrayEquals(
                new double[] {7 / (1 + Math.exp(-14)) * 8, -9 / (1 + Math.exp(18)) * -6, 1.5 / (1 + Math.exp(-2))},
                run(b.swigluOai("g", gate, up, 2, 7), 1)[0],
                1e-12);
        assertArrayEquals(new double[] {81, 0, 1}, run(b.activate("r", gate, Activation.RELU_SQUARED), 1)[0]);
        assertArrayEquals(
                new double[] {Math.tanh(9), Math.tanh(-9), Math.tanh(1)},
                run(b.activate("t", gate, Activation.TANH), 1)[0]);
        Value bent = b.value("bent", 3);
        b.add(new PartOp.Xielu(gate, 2, 4, 0.5f, -10, bent));
        assertArrayEquals(new double[] {2 * 81 + 4.5, 4 * (Math.exp(-10) - 1 + 9) - 4.5, 2.5}, run(bent, 1)[0], 1e-12);
        assertEquals(0.5, 1 - run(b.activate("s", b.scale("z", gate, 0), Activation.SIGMOID), 1)[0][0]);
    }

    /// `out = x * weight`, twice.
    private record Foreign(Value x, Weight weight, Value first, Value second) implements ReferenceOp {
        @Override
        public String kind() {
            return "foreign";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Value> outputs() {
            return List.of(first, second);
        }

        @Override
        public List<Weight> weights() {
            return List.of(weight);
        }

        @Override
        public double[][] evaluate(double[][] inputs, float[][] weights) {
            return new double[][] {{inputs[0][0] * weights[0][0]}, {inputs[0][0] * weights[0][1]}};
        }
    }

    @Test
    void anOpMayBringItsOwnEvaluation() {
        Value x = table(new float[] {2});
        Weight weight = put(new Weight("w", 1, 3), 5, 7, 11).rows(1, 3);
        Foreign op = new Foreign(x, weight, b.value("first", 1), b.value("second", 1));
        b.add(op);
        assertEquals(14 + 22, run(b.add("sum", op.first(), op.second()), 1)[0][0]);
    }

    @Test
    void aChoiceIsJudgedByTheScoresThatItGivesUp() {
        DecodedWeights none = new DecodedWeights(new MemoryWeights());
        RouterParams params = RouterParams.builder(Gating.SIGMOID, 2).build();
        double[] logits = {0, 3, 3.00001, -4};
        assertEquals(0, ExpertOps.misrouted(params, logits, new double[] {2, 1}, none));
        assertEquals(
                0, ExpertOps.misrouted(params, logits, new double[] {1, 2}, none), 1e-6, "the two best, almost equal");
        assertTrue(
                ExpertOps.misrouted(params, logits, new double[] {2, 0}, none) > 0.4,
                "the third instead of the second");
        for (double[] wrong : new double[][] {{2, 2}, {2, 4}, {2, -1}, {2, 0.5}, {2, Double.NaN}}) {
            assertEquals(
                    Double.POSITIVE_INFINITY, ExpertOps.misrouted(params, logits, wrong, none), Arrays.toString(wrong));
        }
    }
}
