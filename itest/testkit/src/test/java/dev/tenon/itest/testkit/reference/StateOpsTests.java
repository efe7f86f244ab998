package dev.tenon.itest.testkit.reference;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.models.TinyGguf;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The reference of ops with a state and of ops on parts of rows against numbers worked out by hand. The steps
/// of all sequences: token 0, then tokens 1 and 2.
class StateOpsTests {
    private final GraphBuilder b = new GraphBuilder("test");
    private final Map<String, float[]> weights = new HashMap<>();

    private Weight put(Weight weight, float... values) {
        weights.put(weight.name(), values);
        return weight;
    }

    private Value table(int width, float... values) {
        return b.embedding("x", put(new Weight("table", width, values.length / width), values));
    }

    private void gives(Value output, double[]... rows) {
        Graph graph = b.build(output);
        try (MemoryWeights memory = new MemoryWeights()) {
            for (Weight weight : graph.weights()) {
                memory.add(weight, TestFormats.F32, TinyGguf.f32(weights.get(weight.name())));
            }
            Reference.Sequence sequence = new Reference(graph, memory).newSequence();
            assertArrayEquals(rows[0], sequence.feed(0)[0], 1e-12);
            double[][] further = sequence.feed(1, 2);
            assertArrayEquals(rows[1], further[0], 1e-12);
            assertArrayEquals(rows[2], further[1], 1e-12);
        }
    }

    @Test
    void aConvolutionSeesTheLastTokensOfItsChannel() {
        Value x = table(2, 1, 10, 2, 20, 3, 30);
        Weight taps = put(new Weight("taps", 3, 2), 100, 10, 1, 0, 0, 2);
        Optional<Weight> bias = Optional.of(put(Weight.vector("bias", 2), 0.5f, -1));
        gives(b.shortConvolution("conv", x, taps, bias), new double[] {1.5, 19}, new double[] {12.5, 39}, new double[] {
            123.5, 59
        });
    }

    /// One head of one element with a state of one; `log(e - 1)` makes a step of 1.
    @Test
    void aScanDecaysItsStateAndAddsToIt() {
        float one = (float) Math.log(Math.E - 1);
        Value row = table(4, 2, 3, 5, one, 7, 1, 1, one, 0, 1, 1, one);
        Value xbc = b.slice("xbc", row, 1, 0, 3);
        Value step = b.slice("step", row, 1, 3, 1);
        Weight a = put(new Weight("a", 1, 1), -1);
        Weight d = put(new Weight("d", 1, 1), 0.5f);
        Weight bias = put(Weight.vector("bias", 1), 0);
        Value out = b.value("scan", 1);
        b.add(new StateOp.SelectiveScan(xbc, step, a, d, bias, 1, out));
        double dt = Math.log1p(Math.exp(one));
        double decay = Math.exp(-dt);
        double second = decay * dt * 6 + dt * 7;
        gives(out, new double[] {dt * 30 + 1}, new double[] {second + 3.5}, new double[] {decay * second});
    }

    @Test
    void aShiftMixesATokenWithTheOneBefore() {
        Value x = table(2, 4, 8, 6, 16, 0, 0);
        Weight mix = put(new Weight("mix", 2, 2), 0.5f, 0, 1, 0.25f);
        Value out = b.value("shift", 4);
        b.add(new RecurrentOp.TokenShift(x, mix, out));
        gives(out, new double[] {2, 8, 0, 6}, new double[] {5, 16, 4, 14}, new double[] {3, 0, 6, 4});
    }

    /// One head of two elements. The first token writes (5, 7) under the key (1, 0). The second finds
    /// it there, and takes a quarter of it out under the same key, of what the decay has left of it: it
    /// looked before the decay. The third takes all of it out under the other key.
    @Test
    void aReplacementTakesOutWhatItFoundBeforeTheDecay() {
        float half = (float) Math.log(0.5);
        Value row = table(
                12, 1, 0, 1, 0, 5, 7, 0, 0, 0, 0, 0, 0, //
                1, 1, 0, 0, 9, 9, half, 0, 1, 0, 0.25f, 0, //
                1, 2, 0, 0, 9, 9, 0, 0, 1, 0, 0, 1);
        Value rkv = b.slice("rkv", row, 1, 0, 6);
        Value decay = b.slice("decay", row, 1, 6, 2);
        Value remove = b.slice("remove", row, 1, 8, 2);
        Value add = b.slice("add", row, 1, 10, 2);
        Value out = b.value("replaced", 2);
        b.add(new RecurrentOp.ReplacementRule(rkv, decay, remove, add, 1, out));
        double kept = Math.exp(half) - 0.25;
        gives(out, new double[] {5, 7}, new double[] {5 * kept, 7 * kept}, new double[] {
            5 * kept - 2 * 5 * kept, 7 * kept - 2 * 7 * kept
        });
    }

    /// One head with keys of two elements and values of one. The state first holds 4 under the key (1, 0), of
    /// which half is kept; a correction by half moves what is found there half the way to the value.
    @Test
    void theDeltaRuleMovesWhatAKeyFindsTowardsItsValue() {
        float half = (float) Math.log(Math.sqrt(2) - 1 + 1e-9);
        Value row = table(5, 0, 3, 0, 5, 8, 3, 0, 9, 0, 8, 0, 2, 0.6f, 0.8f, 0);
        Value zero = b.scale("zero", b.slice("some", row, 1, 0, 1), 0);
        Weight a = put(Weight.vector("a", 1), -2);
        Weight bias = put(Weight.vector("bias", 1), half);
        Value out = b.value("delta", 1);
        b.add(new StateOp.GatedDeltaRule(row, zero, zero, a, bias, 1, StateOp.KeyHeads.BLOCK, 1e-6f, out));
        double decay = Math.exp(-2 * Math.log1p(Math.exp(half)));
        double root = Math.sqrt(2);
        double x = 4;
        double first = 4 * decay;
        double underFirst = (8 - 0) / 2.0;
        double underSecond = 4 * decay * decay;
        double found = 0.6f * underFirst * decay + 0.8f * underSecond;
        double length = Math.sqrt(0.6f * (double) 0.6f + 0.8f * (double) 0.8f);
        double last = underSecond - 0.8f / length * 0.5 * found / length;
        gives(out, new double[] {x / root}, new double[] {underFirst / root}, new double[] {last / root});
    }

    @Test
    void partsAreKeptAndNormedGroupByGroup() {
        Value x = table(4, 3, 4, 0, 2, 3, 4, 0, 2, 3, 4, 0, 2);
        Weight norms = put(new Weight("norms", 2, 2), 1, 10, 100, 1000);
        Value normed = b.groupedRmsNorm("normed", x, norms, 0);
        double root = Math.sqrt(2);
        double[] expected = {4 / 5.0 * root * 10, 1000 * root};
        gives(b.slice("seconds", normed, 2, 1, 1), expected, expected, expected);
    }
}
