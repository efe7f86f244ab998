package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Support;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CentredConvolution;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.GivenRows;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.ReplaceRows;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class OpSupportTests {
    private static final Value X = new Value(0, "x", 64);
    private static final Value Y = new Value(1, "y", 64);
    private static final Optional<Weight> NONE = Optional.empty();

    private static Op rope(Optional<Yarn> yarn, float attentionFactor) {
        return new CoreOp.Rope(
                X,
                RopeParams.builder(64, Pairing.HALF_SPLIT, 10_000)
                        .yarn(yarn)
                        .attentionFactor(attentionFactor)
                        .build(),
                Y);
    }

    private static CoreOp.Attention attention(boolean causal, Optional<Weight> sinks) {
        return new CoreOp.Attention(
                X,
                X,
                X,
                0,
                AttentionParams.builder(1, 1, 1).causal(causal).sinks(sinks).build(),
                Y);
    }

    private static Op replacement(Value row) {
        return new RecurrentOp.ReplacementRule(new Value(13, "rkv", 3 * row.width()), row, row, row, 1, row);
    }

    @TestFactory
    Stream<DynamicTest> whatNoKernelComputesIsRefusedWithAReason() {
        Value two = new Value(2, "two", 2);
        Weight pair = Weight.vector("pair", 2);
        Map<String, Op> ops = Map.ofEntries(
                Map.entry(
                        "op select_positions",
                        new SelectPositions(X, new Value(15, "weights", 1), X, 0, new Value(16, "positions", 8))),
                Map.entry("op selected_attention", new SelectedAttention(attention(true, NONE), X)),
                Map.entry("op swiglu_oai without 1", new CoreOp.SwigluOai(X, X, 1, 7, 0, Y)),
                Map.entry(
                        "op router by roots",
                        new ExpertOp.Router(
                                X,
                                RouterParams.builder(Gating.SOFTPLUS_ROOT, 2).build(),
                                two,
                                new Value(4, "shares", 2))),
                Map.entry(
                        "op rope of runs",
                        new CoreOp.Rope(
                                X,
                                RopeParams.builder(4, RopeParams.Pairing.HALF_SPLIT, 100)
                                        .run(4)
                                        .build(),
                                Y)),
                Map.entry("op run_mean", new RecurrentOp.RunMean(X, X, new Weight("places", 64, 4), Y)),
                Map.entry(
                        "op run_attention",
                        new RunAttention(
                                attention(true, NONE),
                                new CoreOp.Attention(
                                        X,
                                        X,
                                        X,
                                        1,
                                        AttentionParams.builder(1, 1, 1).build(),
                                        Y),
                                4,
                                Optional.empty())),
                Map.entry(
                        "op head_linear of more than 1024 heads",
                        new PartOp.HeadLinear(
                                new Value(6, "heads", 1025), new Weight("h", 1, 1, 1025), new Value(7, "of", 1025))),
                Map.entry(
                        "op selective_scan with more than 256 numbers in a row of its state",
                        new StateOp.SelectiveScan(new Value(8, "xbc", 64 + 2 * 257), two, pair, pair, pair, 1, Y)),
                Map.entry(
                        "op gated_delta_rule with more than 256 numbers in a row of its state",
                        new StateOp.GatedDeltaRule(
                                new Value(9, "qkv", 64 + 2 * 257),
                                two,
                                two,
                                pair,
                                pair,
                                1,
                                StateOp.KeyHeads.BLOCK,
                                1e-6f,
                                Y)),
                Map.entry(
                        "op replacement_rule with more than 256 numbers in a row of its state",
                        replacement(new Value(14, "long", 257))),
                Map.entry(
                        "op router over more than 1024 experts",
                        new ExpertOp.Router(
                                new Value(5, "logits", 1025),
                                RouterParams.builder(Gating.SOFTMAX, 2).build(),
                                two,
                                new Value(4, "shares", 2))));
        return ops.entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
                    Support support = KernelSupport.of(entry.getValue(), new TestGraphs(), List.of(), () -> true);
                    assertEquals(Support.Level.NONE, support.level());
                    assertTrue(support.reason().startsWith(entry.getKey()), support.reason());
                    assertTrue(support.reason().endsWith("is not supported by NVIDIA kernels yet"), support.reason());
                }));
    }

    @Test
    void whatKernelsComputeIsTaken() {
        Weight vector = Weight.vector("v", 64);
        TestGraphs t = new TestGraphs();
        Weight table = t.matrix("table", 64, 9, "Q8_0");
        List<Op> ops = new ArrayList<>(List.of(
                new CoreOp.PositionEmbedding(table, Y),
                new CoreOp.Repeat(table.rows(1, 2), Y),
                new CoreOp.LayerNorm(X, vector, NONE, 0, Y),
                new CoreOp.SwigluOai(X, X, 1.702f, 7, Y),
                new PositionScale(X, 0.1f, 0, 8, Y),
                new PartOp.Slice(X, 4, 0, new Value(5, "part", 32)),
                new PartOp.GroupedRmsNorm(X, new Weight("n", 16, 4), 0, Y),
                new PartOp.GroupedLayerNorm(X, new Weight("n", 16, 4), 0, Y),
                new PartOp.PlainRmsNorm(X, 2, 0, Y),
                new PartOp.Join(X, X, 2, new Value(6, "joined", 128)),
                new CoreOp.Attention(
                        X, X, X, 0, AttentionParams.builder(1, 1, 1).chunk(8).build(), Y),
                new CoreOp.Attention(
                        X,
                        X,
                        X,
                        0,
                        AttentionParams.builder(1, 1, 1)
                                .scoreBias(Optional.of(ScoreBias.alibi(List.of(0.5f))))
                                .build(),
                        Y),
                rope(Optional.of(new Yarn(4, 128, 32, 1)), 1.1f),
                new CoreOp.Rope(
                        X,
                        RopeParams.builder(4, Pairing.HALF_SPLIT, 100)
                                .turns(List.of(new RopeParams.Turn(0, 0), new RopeParams.Turn(1, 0)))
                                .span(2)
                                .build(),
                        Y),
                new CoreOp.Attention(
                        X, X, X, 0, AttentionParams.builder(1, 1, 1).spans(true).build(), Y),
                new GivenRows(Y),
                new ReplaceRows(X, Y),
                new JoinRows(X, 1, Y),
                new PartOp.GroupMean(X, 4, Y),
                new PartOp.Transpose(X, 4, Y),
                new PartOp.TransposedLinear(X, new Weight("m", 64, 64), Y),
                new PartOp.Clamp(X, NONE, NONE, Y),
                new PartOp.Xielu(X, 0.8f, 0.8f, 0.5f, -1e-6f, Y),
                new CentredConvolution(X, new Weight("taps", 3, 64), NONE, Y),
                attention(false, NONE),
                attention(true, Optional.of(Weight.vector("s", 1))),
                new CoreOp.Linear(X, t.matrix("qkv", 64, 192, "Q4_0").rows(64, 128), NONE, Y)));
        LowRankAdd.Part change = new LowRankAdd.Part(0, t.matrix("a", 64, 32, "F16"), t.matrix("b", 32, 64, "Q8_0"), 1);
        ops.add(new LowRankAdd(X, X, List.of(change), Y));
        Value two = new Value(2, "two", 2);
        Value wide = new Value(3, "wide", 128);
        RouterParams params = RouterParams.builder(Gating.SIGMOID, 2).build();
        ops.add(new ExpertOp.Router(X, params, two, new Value(4, "shares", 2)));
        ops.add(new ExpertOp.ExpertLinear(X, two, new Weight("table", 64, 64, 8), NONE, wide));
        ops.add(new ExpertOp.WeightedSum(wide, two, Y));
        Weight pair = Weight.vector("pair", 2);
        ops.add(new PartOp.HeadLinear(X, new Weight("table", 32, 32, 2), Y));
        ops.add(new StateOp.ShortConvolution(X, new Weight("c", 4, 64), NONE, Y));
        ops.add(new StateOp.SelectiveScan(wide, two, pair, pair, pair, 1, Y));
        ops.add(new StateOp.GatedDeltaRule(wide, two, two, pair, pair, 1, StateOp.KeyHeads.BLOCK, 1e-6f, Y));
        ops.add(new StateOp.GatedDeltaRule(
                new Value(12, "qkv", 192), X, two, pair, Weight.vector("bias", 64), 2, StateOp.KeyHeads.BLOCK, 0, Y));
        ops.add(new RecurrentOp.TokenShift(X, Weight.vector("mix", 64), Y));
        ops.add(new RecurrentOp.ReplacementRule(new Value(13, "rkv", 192), X, X, X, 2, Y));
        for (Pooling pooling : Pooling.values()) {
            ops.add(new CoreOp.Pool(X, pooling, Y));
        }
        for (Activation activation : Activation.values()) {
            ops.add(new CoreOp.Activate(X, activation, Y));
        }
        for (Op op : ops) {
            assertEquals(
                    Support.Level.FAST,
                    KernelSupport.of(op, t, List.of(), () -> true).level(),
                    op::toString);
        }
    }

    private record Own(Value x, Value out) implements ReferenceOp {
        @Override
        public String kind() {
            return "acme.own";
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
        public double[][] evaluate(double[][] inputs, float[][] weights) {
            return inputs;
        }
    }

    @Test
    void anOpOfABundleIsRefusedByName() {
        Support support = KernelSupport.of(new Own(X, Y), new TestGraphs(), List.of(), () -> true);
        assertEquals(Support.Level.NONE, support.level());
        for (String part : List.of("op acme.own", "needs a kernel", "CPU")) {
            assertTrue(support.reason().contains(part), support.reason());
        }
    }
}
