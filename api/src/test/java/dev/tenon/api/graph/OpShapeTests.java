package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.RouterParams.Gating;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Every op refuses widths that do not fit together, and names itself and its result.
class OpShapeTests {
    private static final Value X = new Value(0, "x", 12);
    private static final Value Y = new Value(1, "y", 8);
    private static final Value OUT = new Value(2, "blk.3.out", 12);
    private static final Value TWO = new Value(3, "two", 2);
    private static final Optional<Weight> NONE = Optional.empty();

    private static Weight vector(int length) {
        return Weight.vector("v", length);
    }

    private static Optional<Weight> some(int length) {
        return Optional.of(vector(length));
    }

    private static RopeParams rope(int headDim) {
        return RopeParams.builder(headDim, RopeParams.Pairing.HALF_SPLIT, 10_000)
                .build();
    }

    private static AttentionParams heads(int heads, int headsKv) {
        return AttentionParams.builder(heads, headsKv, 1).build();
    }

    private static CoreOp.Attention attention(int heads, int headsKv) {
        return new CoreOp.Attention(X, X, X, 0, heads(heads, headsKv), OUT);
    }

    private static ExpertOp.Router router(RouterParams params, Value chosen) {
        return new ExpertOp.Router(X, params, chosen, new Value(2, "blk.3.out", params.used()));
    }

    private static LowRankAdd.Part change(int cols, int rank, float factor) {
        return new LowRankAdd.Part(0, new Weight("a", cols, 4), new Weight("b", rank, 12), factor);
    }

    private static Op scan(int width, int heads, int groups, Weight a) {
        Value xbc = new Value(5, "xbc", width);
        Value step = new Value(6, "step", heads);
        return new StateOp.SelectiveScan(xbc, step, a, vector(heads), vector(heads), groups, OUT);
    }

    private static Op delta(int width, int heads, int betas, int keyHeads, float eps) {
        Value qkv = new Value(5, "qkv", width);
        Value decay = new Value(6, "decay", heads);
        Value beta = new Value(7, "beta", betas);
        return new StateOp.GatedDeltaRule(
                qkv, decay, beta, vector(heads), vector(heads), keyHeads, StateOp.KeyHeads.BLOCK, eps, OUT);
    }

    private static RunAttention runs(int layer, AttentionParams far, int run) {
        return new RunAttention(
                new CoreOp.Attention(X, X, X, 0, heads(4, 4), OUT),
                new CoreOp.Attention(X, X, X, layer, far, OUT),
                run,
                Optional.empty());
    }

    @Test
    void opsWithAStateKnowItsSize() {
        GraphBuilder b = new GraphBuilder("test");
        Value x = b.embedding("x", new Weight("embd", 24, 9));
        b.shortConvolution("conv", x, new Weight("w", 4, 24), NONE);
        Value xbc = b.slice("xbc", x, 2, 1, 10);
        Value four = b.slice("four", x, 4, 0, 1);
        StateOp.SelectiveScan scan = new StateOp.SelectiveScan(
                xbc, four, new Weight("a", 1, 4), vector(4), vector(4), 2, b.value("scan", 12));
        b.add(scan);
        StateOp.GatedDeltaRule delta = new StateOp.GatedDeltaRule(
                xbc, four, four, vector(4), vector(4), 2, StateOp.KeyHeads.CYCLIC, 0, b.value("delta", 12));
        b.add(delta);
        RecurrentOp.TokenShift shift = new RecurrentOp.TokenShift(x, new Weight("mix", 24, 3), b.value("shift", 72));
        b.add(shift);
        RecurrentOp.ReplacementRule rule =
                new RecurrentOp.ReplacementRule(shift.out(), x, x, x, 6, b.value("replaced", 24));
        b.add(rule);
        Value half = b.value("half", 12);
        RecurrentOp.RunMean overlapping = new RecurrentOp.RunMean(x, rule.out(), new Weight("ape", 24, 4), half);
        b.add(overlapping);
        RecurrentOp.RunMean mean = new RecurrentOp.RunMean(half, half, new Weight("ape2", 12, 9), b.value("mean", 12));
        b.add(mean);
        Graph graph = b.build(mean.out());
        List<StateOp> ops = graph.stateOps();
        assertEquals(
                List.of(72L, 24L, 24L), ops.stream().map(StateOp::stateFloats).toList());
        assertEquals(
                List.of(72L, 24L, 24L, 24L, 96L, 108L, 36L),
                graph.opsWithState().stream().map(RecurrentOp::stateFloats).toList());
        assertEquals(0, RecurrentOp.stateFloats(graph.ops().getFirst()));
        assertEquals(List.of(3, 4), List.of(shift.ways(), rule.headLength()));
        assertEquals(List.of(4, 9), List.of(overlapping.run(), mean.run()));
        assertEquals(List.of(3, 2), List.of(scan.headLength(), scan.stateLength()));
        assertEquals(List.of(2, 3), List.of(delta.keyLength(), delta.valueLength()));
        assertEquals(1, delta.keyHead(3));
    }

    @TestFactory
    Stream<DynamicTest> widthsThatDoNotFitAreRefused() {
        RouterParams two =
                RouterParams.builder(Gating.SOFTMAX, 2).normalise(true).build();
        RouterParams four = RouterParams.builder(Gating.SIGMOID, 4)
                .normalise(true)
                .groups(6)
                .build();
        RouterParams odd = RouterParams.builder(Gating.SIGMOID, 2)
                .normalise(true)
                .groups(5)
                .groupsUsed(5)
                .build();
        RouterParams biased = RouterParams.builder(Gating.SIGMOID, 2)
                .normalise(true)
                .bias(some(11))
                .build();
        Value pair = new Value(4, "blk.3.out", 2);
        Weight experts = new Weight("e", 12, 6, 5);
        Map<String, List<Runnable>> wrong = Map.ofEntries(
                Map.entry(
                        "embedding",
                        List.of(
                                () -> new CoreOp.Embedding(new Weight("w", 8, 50), OUT),
                                () -> new CoreOp.Embedding(new Weight("w", 12, 50, 2), OUT))),
                Map.entry(
                        "position_embedding", List.of(() -> new CoreOp.PositionEmbedding(new Weight("w", 8, 50), OUT))),
                Map.entry("repeat", List.of(() -> new CoreOp.Repeat(new Weight("w", 12, 2), OUT))),
                Map.entry(
                        "rms_norm",
                        List.of(
                                () -> new CoreOp.RmsNorm(Y, vector(4), 0, OUT),
                                () -> new CoreOp.RmsNorm(X, vector(5), 0, OUT),
                                () -> new CoreOp.RmsNorm(X, vector(12), Float.NaN, OUT))),
                Map.entry(
                        "layer_norm",
                        List.of(
                                () -> new CoreOp.LayerNorm(Y, vector(4), NONE, 0, OUT),
                                () -> new CoreOp.LayerNorm(X, vector(12), some(4), 0, OUT),
                                () -> new CoreOp.LayerNorm(X, vector(12), NONE, -1, OUT))),
                Map.entry(
                        "linear",
                        List.of(
                                () -> new CoreOp.Linear(Y, new Weight("w", 12, 12), NONE, OUT),
                                () -> new CoreOp.Linear(Y, new Weight("w", 8, 11), NONE, OUT),
                                () -> new CoreOp.Linear(Y, new Weight("w", 8, 12, 2), NONE, OUT),
                                () -> new CoreOp.Linear(Y, new Weight("w", 8, 12), some(8), OUT))),
                Map.entry(
                        "rope",
                        List.of(() -> new CoreOp.Rope(Y, rope(4), OUT), () -> new CoreOp.Rope(X, rope(8), OUT))),
                Map.entry(
                        "attention",
                        List.of(
                                () -> attention(5, 5),
                                () -> attention(4, 2),
                                () -> new CoreOp.Attention(X, X, X, -1, heads(4, 4), OUT))),
                Map.entry("add", List.of(() -> new CoreOp.Add(X, Y, OUT), () -> new CoreOp.Add(Y, Y, OUT))),
                Map.entry("multiply", List.of(() -> new CoreOp.Multiply(Y, X, OUT))),
                Map.entry("activate", List.of(() -> new CoreOp.Activate(Y, Activation.SILU, OUT))),
                Map.entry("swiglu_oai", List.of(() -> new CoreOp.SwigluOai(X, Y, 1, 7, OUT))),
                Map.entry(
                        "xielu",
                        List.of(
                                () -> new PartOp.Xielu(Y, 1, 1, 1, 0, OUT),
                                () -> new PartOp.Xielu(X, 1, Float.NaN, 1, 0, OUT))),
                Map.entry("scale", List.of(() -> new CoreOp.Scale(Y, 2, OUT))),
                Map.entry(
                        "soft_cap", List.of(() -> new CoreOp.SoftCap(Y, 2, OUT), () -> new CoreOp.SoftCap(X, 0, OUT))),
                Map.entry(
                        "grouped_rms_norm",
                        List.of(
                                () -> new PartOp.GroupedRmsNorm(Y, new Weight("w", 4, 3), 0, OUT),
                                () -> new PartOp.GroupedRmsNorm(X, new Weight("w", 4, 2), 0, OUT),
                                () -> new PartOp.GroupedRmsNorm(X, new Weight("w", 4, 3), -1, OUT))),
                Map.entry(
                        "grouped_layer_norm",
                        List.of(
                                () -> new PartOp.GroupedLayerNorm(Y, new Weight("w", 4, 3), 0, OUT),
                                () -> new PartOp.GroupedLayerNorm(X, new Weight("w", 4, 2), 0, OUT),
                                () -> new PartOp.GroupedLayerNorm(X, new Weight("w", 4, 3), -1, OUT))),
                Map.entry(
                        "slice",
                        List.of(
                                () -> new PartOp.Slice(X, 5, 0, OUT),
                                () -> new PartOp.Slice(X, 2, 1, OUT),
                                () -> new PartOp.Slice(X, 2, -1, OUT))),
                Map.entry(
                        "join",
                        List.of(
                                () -> new PartOp.Join(X, X, 1, OUT),
                                () -> new PartOp.Join(TWO, Y, 5, OUT),
                                () -> new PartOp.Join(TWO, Y, 0, OUT))),
                Map.entry(
                        "head_linear",
                        List.of(
                                () -> new PartOp.HeadLinear(X, new Weight("w", 4, 4, 2), OUT),
                                () -> new PartOp.HeadLinear(X, new Weight("w", 4, 3, 3), OUT))),
                Map.entry(
                        "plain_rms_norm",
                        List.of(
                                () -> new PartOp.PlainRmsNorm(Y, 2, 0, OUT),
                                () -> new PartOp.PlainRmsNorm(X, 5, 0, OUT),
                                () -> new PartOp.PlainRmsNorm(X, 3, -1, OUT))),
                Map.entry(
                        "group_mean",
                        List.of(
                                () -> new PartOp.GroupMean(Y, 2, OUT),
                                () -> new PartOp.GroupMean(X, 5, OUT),
                                () -> new PartOp.GroupMean(X, 0, OUT))),
                Map.entry(
                        "centred_convolution",
                        List.of(
                                () -> new CentredConvolution(Y, new Weight("w", 3, 12), NONE, OUT),
                                () -> new CentredConvolution(X, new Weight("w", 3, 8), NONE, OUT),
                                () -> new CentredConvolution(X, new Weight("w", 3, 12), some(8), OUT))),
                Map.entry(
                        "select_positions",
                        List.of(
                                () -> new SelectPositions(X, TWO, X, 0, OUT),
                                () -> new SelectPositions(X, Y, TWO, 0, OUT),
                                () -> new SelectPositions(X, new Value(4, "one", 1), X, -1, OUT),
                                () -> new SelectPositions(X, new Value(4, "one", 1), X, 0, 0, OUT))),
                Map.entry(
                        "run_attention",
                        List.of(
                                () -> runs(0, heads(4, 4), 4),
                                () -> runs(1, heads(2, 2), 4),
                                () -> runs(
                                        1,
                                        heads(4, 4).toBuilder().slidingWindow(3).build(),
                                        4),
                                () -> runs(
                                        1,
                                        heads(4, 4).toBuilder().sinks(some(4)).build(),
                                        4),
                                () -> runs(
                                        1, heads(4, 4).toBuilder().causal(false).build(), 4),
                                () -> runs(1, heads(4, 4), 0))),
                Map.entry(
                        "run_mean",
                        List.of(
                                () -> new RecurrentOp.RunMean(Y, Y, new Weight("w", 8, 3), OUT),
                                () -> new RecurrentOp.RunMean(X, Y, new Weight("w", 12, 3), OUT),
                                () -> new RecurrentOp.RunMean(X, X, new Weight("w", 8, 3), OUT),
                                () -> new RecurrentOp.RunMean(X, X, new Weight("w", 12, 3, 2), OUT))),
                Map.entry(
                        "selected_attention",
                        List.of(() -> new SelectedAttention(
                                new CoreOp.Attention(
                                        X,
                                        X,
                                        X,
                                        0,
                                        AttentionParams.builder(4, 4, 1)
                                                .causal(false)
                                                .build(),
                                        OUT),
                                TWO))),
                Map.entry(
                        "token_shift",
                        List.of(
                                () -> new RecurrentOp.TokenShift(Y, new Weight("w", 12, 1), OUT),
                                () -> new RecurrentOp.TokenShift(X, new Weight("w", 12, 2), OUT))),
                Map.entry(
                        "replacement_rule",
                        List.of(
                                () -> new RecurrentOp.ReplacementRule(X, X, X, X, 2, OUT),
                                () -> new RecurrentOp.ReplacementRule(X, Y, X, X, 2, OUT))),
                Map.entry(
                        "short_convolution",
                        List.of(
                                () -> new StateOp.ShortConvolution(Y, new Weight("w", 3, 12), NONE, OUT),
                                () -> new StateOp.ShortConvolution(X, new Weight("w", 3, 8), NONE, OUT),
                                () -> new StateOp.ShortConvolution(X, new Weight("w", 3, 12), some(8), OUT))),
                Map.entry(
                        "selective_scan",
                        List.of(
                                () -> scan(20, 4, 3, vector(4)),
                                () -> scan(20, 5, 1, vector(5)),
                                () -> scan(12, 4, 2, vector(4)),
                                () -> scan(18, 4, 2, vector(4)),
                                () -> scan(20, 4, 2, vector(3)))),
                Map.entry(
                        "gated_delta_rule",
                        List.of(
                                () -> delta(20, 4, 4, 3, 0),
                                () -> delta(20, 4, 2, 2, 0),
                                () -> delta(12, 4, 4, 2, 0),
                                () -> delta(22, 4, 4, 2, 0),
                                () -> delta(20, 4, 4, 2, -1))),
                Map.entry(
                        "position_scale",
                        List.of(
                                () -> new PositionScale(Y, 0.1f, 0, 8, OUT),
                                () -> new PositionScale(X, Float.NaN, 0, 8, OUT),
                                () -> new PositionScale(X, 0.1f, -1, 8, OUT),
                                () -> new PositionScale(X, 0.1f, 0, 0, OUT))),
                Map.entry(
                        "low_rank_add",
                        List.of(
                                () -> new LowRankAdd(X, X, List.of(), OUT),
                                () -> new LowRankAdd(X, Y, List.of(change(12, 4, 1)), OUT),
                                () -> new LowRankAdd(Y, X, List.of(change(12, 4, 1)), OUT),
                                () -> new LowRankAdd(X, X, List.of(change(12, 3, 1)), OUT),
                                () -> new LowRankAdd(X, X, List.of(change(12, 4, Float.NaN)), OUT))),
                Map.entry("select_rows", List.of(() -> new CoreOp.SelectRows(Y, OUT))),
                Map.entry("pool", List.of(() -> new CoreOp.Pool(Y, Pooling.MEAN, OUT))),
                Map.entry(
                        "router",
                        List.of(
                                () -> router(two, OUT),
                                () -> router(four, new Value(4, "blk.3.out", 4)),
                                () -> router(odd, pair),
                                () -> router(biased, pair))),
                Map.entry(
                        "expert_linear",
                        List.of(
                                () -> new ExpertOp.ExpertLinear(Y, TWO, experts, NONE, OUT),
                                () -> new ExpertOp.ExpertLinear(X, X, experts, NONE, OUT),
                                () -> new ExpertOp.ExpertLinear(X, TWO, experts, some(6), OUT))),
                Map.entry("weighted_sum", List.of(() -> new ExpertOp.WeightedSum(Y, TWO, OUT))));
        return wrong.entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
                    for (Runnable op : entry.getValue()) {
                        var e = assertThrows(IllegalArgumentException.class, op::run);
                        assertTrue(e.getMessage().contains("op " + entry.getKey() + " -> blk.3.out"), e.getMessage());
                    }
                }));
    }

    /// Widths of results that the builder derives and that are no widths.
    @Test
    void theBuilderRefusesThemTooAndNamesOpAndResult() {
        GraphBuilder b = new GraphBuilder("test");
        Value narrow = new Value(9, "narrow", 3);
        builderRefuses("attention", () -> b.attention("blk.3.out", X, X, narrow, 0, heads(4, 4)));
        Weight tall = new Weight("e", 12, 1 << 30, 5);
        builderRefuses("expert_linear", () -> b.expertLinear("blk.3.out", X, TWO, tall, NONE));
        builderRefuses("weighted_sum", () -> b.weightedSum("blk.3.out", TWO, X));
    }

    private static void builderRefuses(String kind, Runnable build) {
        var e = assertThrows(IllegalArgumentException.class, build::run);
        assertTrue(e.getMessage().contains("op " + kind + " -> blk.3.out"), e.getMessage());
    }

    @Test
    void whatFitsIsTaken() {
        Weight down = new Weight("e", 4, 6, 5);
        Value eight = new Value(5, "eight", 8);
        assertEquals(true, new ExpertOp.ExpertLinear(eight, TWO, down, NONE, OUT).ownInputs());
        Weight bias = new Weight("b", 6, 5);
        assertEquals(
                List.of(down, bias), new ExpertOp.ExpertLinear(eight, TWO, down, Optional.of(bias), OUT).weights());
        assertEquals(3, attention(4, 4).keyLength());
        RouterParams grouped = RouterParams.builder(Gating.SIGMOID, 2)
                .normalise(true)
                .scale(2.5f)
                .bias(some(12))
                .groups(4)
                .build();
        assertEquals(
                2,
                new ExpertOp.Router(X, grouped, TWO, new Value(4, "shares", 2))
                        .outputs()
                        .size());
    }

    @Test
    void windowsCountTheTokenItselfOrHalfOnEachSide() {
        CoreOp.Attention causal = new CoreOp.Attention(
                X, X, X, 0, AttentionParams.builder(4, 4, 1).slidingWindow(5).build(), OUT);
        assertEquals(6, causal.params().firstSeen(10));
        assertEquals(0, causal.params().firstSeen(3));
        assertEquals(10, causal.params().lastSeen(10, 99));
        CoreOp.Attention encoder = new CoreOp.Attention(
                X,
                X,
                X,
                0,
                AttentionParams.builder(4, 4, 1).slidingWindow(5).causal(false).build(),
                OUT);
        assertEquals(8, encoder.params().firstSeen(10));
        assertEquals(12, encoder.params().lastSeen(10, 99));
        assertEquals(11, encoder.params().lastSeen(10, 11));
        CoreOp.Attention all = new CoreOp.Attention(
                X, X, X, 0, AttentionParams.builder(4, 4, 1).causal(false).build(), OUT);
        assertEquals(0, all.params().firstSeen(10));
        assertEquals(99, all.params().lastSeen(10, 99));
    }

    @Test
    void tokensSeeTheirOwnChunk() {
        AttentionParams chunks = AttentionParams.builder(4, 4, 1).chunk(8).build();
        assertEquals(0, chunks.firstSeen(7));
        assertEquals(8, chunks.firstSeen(8));
        assertEquals(8, chunks.firstSeen(15));
        AttentionParams windows = chunks.toBuilder().slidingWindow(5).build();
        assertEquals(8, windows.firstSeen(9));
        assertEquals(11, windows.firstSeen(15));
        AttentionParams.Builder encoder = chunks.toBuilder().causal(false);
        assertThrows(IllegalArgumentException.class, encoder::build);
    }

    @Test
    void valuesThatAreInKeysAreNotLonger() {
        AttentionParams params =
                AttentionParams.builder(4, 4, 1).valuesInKeys(true).build();
        assertEquals(2, new CoreOp.Attention(X, X, Y, 0, params, Y).valueLength());
        Value longer = new Value(9, "longer", 16);
        assertThrows(IllegalArgumentException.class, () -> new CoreOp.Attention(X, X, longer, 0, params, longer));
    }
}
