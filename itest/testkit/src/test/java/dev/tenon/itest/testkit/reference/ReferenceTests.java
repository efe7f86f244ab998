package dev.tenon.itest.testkit.reference;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.models.TinyGguf;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/// The reference against numbers worked out by hand.
class ReferenceTests {
    /// Runs ops after an embedding with the given rows, feeding tokens 0, 1, 2 ...
    private static double[][] run(
            float[][] table, Map<String, float[]> others, BiFunction<GraphBuilder, Value, Value> ops) {
        GraphBuilder b = new GraphBuilder("test");
        Weight embedding = new Weight("token_embd.weight", table[0].length, table.length);
        Graph graph = b.build(ops.apply(b, b.embedding("x", embedding)));
        try (MemoryWeights weights = new MemoryWeights()) {
            float[] flat = new float[table.length * table[0].length];
            for (int r = 0; r < table.length; r++) {
                System.arraycopy(table[r], 0, flat, r * table[0].length, table[0].length);
            }
            weights.add(embedding, TestFormats.F32, TinyGguf.f32(flat));
            for (Weight weight : graph.weights()) {
                if (others.containsKey(weight.name())) {
                    weights.add(weight, TestFormats.F32, TinyGguf.f32(others.get(weight.name())));
                }
            }
            int[] tokens = new int[table.length];
            for (int t = 0; t < tokens.length; t++) {
                tokens[t] = t;
            }
            return new Reference(graph, weights).newSequence().feed(tokens);
        }
    }

    @Test
    void linearMultipliesRowsAndAddsTheBias() {
        double[][] out = run(
                new float[][] {{1, 2, 3}},
                Map.of("w", new float[] {1, 0, -1, 2, 2, 2}, "b", new float[] {10, 20}),
                (b, x) -> b.linear("y", x, new Weight("w", 3, 2), Optional.of(Weight.vector("b", 2))));
        assertArrayEquals(new double[] {8, 32}, out[0], 1e-12);
    }

    @Test
    void normDividesEachGroupByItsRootMeanSquare() {
        double[][] out = run(
                new float[][] {{3, 4, 6, 8}},
                Map.of("w", new float[] {1, 2}),
                (b, x) -> b.rmsNorm("y", x, Weight.vector("w", 2), 0));
        double small = Math.sqrt(12.5);
        assertArrayEquals(new double[] {3 / small, 8 / small, 3 / small, 8 / small}, out[0], 1e-12);
    }

    @Test
    void interleavedRopeTurnsNeighboursAndHalfSplitTurnsHalves() {
        float[][] table = {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}};
        for (RopeParams.Pairing pairing : RopeParams.Pairing.values()) {
            RopeParams params = RopeParams.builder(5, pairing, 100).ropeDim(4).build();
            double[][] out = run(table, Map.of(), (b, x) -> b.rope("y", x, params));
            assertArrayEquals(new double[] {1, 2, 3, 4, 5}, out[0], 1e-12, "position 0");
            double c0 = Math.cos(1);
            double s0 = Math.sin(1);
            double c1 = Math.cos(0.1);
            double s1 = Math.sin(0.1);
            double[] expected = pairing == RopeParams.Pairing.INTERLEAVED
                    ? new double[] {c0 - 2 * s0, s0 + 2 * c0, 3 * c1 - 4 * s1, 3 * s1 + 4 * c1, 5}
                    : new double[] {c0 - 3 * s0, 2 * c1 - 4 * s1, s0 + 3 * c0, 2 * s1 + 4 * c1, 5};
            assertArrayEquals(expected, out[1], 1e-7, pairing.toString());
        }
    }

    @Test
    void ropeFactorsDivideTheFrequency() {
        RopeParams params = RopeParams.builder(2, RopeParams.Pairing.INTERLEAVED, 10_000)
                .freqScale(0.5f)
                .freqFactors(Optional.of(Weight.vector("f", 1)))
                .build();
        double[][] out =
                run(new float[][] {{1, 0}, {1, 0}}, Map.of("f", new float[] {4}), (b, x) -> b.rope("y", x, params));
        assertArrayEquals(new double[] {Math.cos(0.125), Math.sin(0.125)}, out[1], 1e-12);
    }

    @Test
    void attentionWeighsTheValuesOfThePast() {
        float[][] table = {{1, 5}, {2, 7}, {0.5f, -1}};
        double[][] out = run(table, Map.of(), (b, x) -> b.attention("y", x, x, x, 0, 1, 1, 1));
        assertArrayEquals(new double[] {1, 5}, out[0], 1e-12, "alone it sees itself");
        double a = Math.exp(2 * 1 + 7 * 5 - (2 * 2 + 7 * 7));
        assertArrayEquals(new double[] {(a * 1 + 2) / (a + 1), (a * 5 + 7) / (a + 1)}, out[1], 1e-12);
    }

    @Test
    void aWindowOfOneSeesOnlyItself() {
        float[][] table = {{1, 5}, {2, 7}};
        double[][] out = run(table, Map.of(), (b, x) -> {
            Value y = b.value("y", 2);
            b.add(new CoreOp.Attention(
                    x,
                    x,
                    x,
                    0,
                    AttentionParams.builder(1, 1, 1).slidingWindow(1).build(),
                    y));
            return y;
        });
        assertArrayEquals(new double[] {2, 7}, out[1], 1e-12);
    }

    @Test
    void scoresAreCappedBeforeTheSoftmax() {
        float[][] table = {{0, 1}, {100, 2}};
        double[][] out = run(table, Map.of(), (b, x) -> {
            Value y = b.value("y", 2);
            b.add(new CoreOp.Attention(
                    x, x, x, 0, AttentionParams.builder(1, 1, 1).softCap(1).build(), y));
            return y;
        });
        double first = Math.exp(Math.tanh(2));
        double second = Math.exp(Math.tanh(10_004));
        assertEquals(100 * second / (first + second), out[1][0], 1e-9);
    }

    @Test
    void groupedHeadsShareKeysAndValues() {
        double[][] out =
                run(new float[][] {{1, 2, 3, 4}}, Map.of("v", new float[] {1, 0, 0, 0, 0, 0, 1, 0}), (b, x) -> {
                    Value v = b.linear("v", x, new Weight("v", 4, 2), Optional.empty());
                    return b.attention("y", x, v, v, 0, 4, 2, 1);
                });
        assertArrayEquals(new double[] {1, 1, 3, 3}, out[0], 1e-12);
    }

    @Test
    void activationsAndCapsFollowTheirFormulas() {
        float[][] table = {{-1, 0, 2}};
        assertArrayEquals(
                new double[] {-1 / (1 + Math.E), 0, 2 / (1 + Math.exp(-2))},
                run(table, Map.of(), (b, x) -> b.activate("y", x, Activation.SILU))[0],
                1e-12);
        assertArrayEquals(
                new double[] {-0.158808, 0, 1.954598},
                run(table, Map.of(), (b, x) -> b.activate("y", x, Activation.GELU_TANH))[0],
                1e-6);
        assertArrayEquals(
                new double[] {0, 0, 2}, run(table, Map.of(), (b, x) -> b.activate("y", x, Activation.RELU))[0], 0);
        assertArrayEquals(
                new double[] {3 * Math.tanh(-1 / 3.0), 0, 3 * Math.tanh(2 / 3.0)},
                run(table, Map.of(), (b, x) -> b.softCap("y", x, 3))[0],
                1e-12);
        assertArrayEquals(
                new double[] {2, 0, 8},
                run(table, Map.of(), (b, x) -> b.scale("y", b.multiply("m", x, x), 2))[0],
                1e-12);
    }

    @Test
    void anOpThatIsNotCoreIsRefused() {
        record Strange(Value x, Value out) implements Op {
            @Override
            public String kind() {
                return "strange";
            }

            @Override
            public List<Value> inputs() {
                return List.of(x);
            }

            @Override
            public List<Value> outputs() {
                return List.of(out);
            }

            @Override
            public List<Weight> weights() {
                return List.of();
            }
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> run(new float[][] {{1}}, Map.of(), (b, x) -> {
                    Value y = b.value("y", 1);
                    b.add(new Strange(x, y));
                    return y;
                }));
    }
}
