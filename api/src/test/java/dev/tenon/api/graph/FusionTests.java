package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Into which ops the layers of families fuse; every graph expands into what it was, up to the order of its ops.
class FusionTests {
    private static final Optional<Weight> NONE = Optional.empty();
    private static final int WIDTH = 12;

    private final GraphBuilder b = new GraphBuilder("test");
    private final Value x = b.embedding("x", new Weight("table", WIDTH, 50));

    private Value linear(String name, Value in, int rows) {
        return b.linear(name, in, new Weight(name, in.width(), rows), NONE);
    }

    private Value rms(String name, Value in) {
        return b.rmsNorm(name, in, Weight.vector(name, in.width()), 1e-5f);
    }

    private Value layerNorm(String name, Value in) {
        return b.layerNorm(name, in, Weight.vector(name, in.width()), NONE, 1e-5f);
    }

    private Value attention(Value in, boolean turned) {
        RopeParams rope = RopeParams.builder(6, Pairing.HALF_SPLIT, 10_000).build();
        Value q = linear("q", in, 12);
        Value k = linear("k", in, 6);
        Value v = linear("v", in, 6);
        q = turned ? b.rope("q_rope", q, rope) : q;
        k = turned ? b.rope("k_rope", k, rope) : k;
        return b.attention(
                "att", q, k, v, 0, AttentionParams.builder(2, 1, 0.4f).build());
    }

    private Value gated(String name, Value in) {
        Value gate = b.activate(name + "act", linear(name + "gate", in, 20), Activation.SILU);
        return b.multiply(name + "hidden", gate, linear(name + "up", in, 20));
    }

    private Value normedHeads(String name, Value in, int heads) {
        RopeParams rope = RopeParams.builder(6, Pairing.HALF_SPLIT, 10_000).build();
        Value normed = b.rmsNorm(name + "_norm", linear(name, in, 6 * heads), Weight.vector(name + "_norm", 6), 1e-5f);
        return b.rope(name + "_rope", normed, rope);
    }

    @Test
    void projectionsWithNormedValuesAndThoseOfQueriesAloneFuse() {
        AttentionParams params = AttentionParams.builder(2, 1, 0.4f).build();
        Value in = rms("in", x);
        Value k = normedHeads("k", in, 1);
        Value v = b.plainRmsNorm("v_norm", linear("v", in, 6), 1, 1e-5f);
        Value first = b.attention("first", normedHeads("q", in, 2), k, v, 0, params);
        Value sum = b.add("sum", x, first);
        Value second = b.attention("second", normedHeads("q2", rms("in2", sum), 2), k, v, 0, params);
        assertEquals(List.of("projections", "attention", "add", "projections", "attention"), fused(second));
    }

    @Test
    void valuesThatAreTheKeysAsProjectedReadTheNorm() {
        AttentionParams params = AttentionParams.builder(2, 1, 0.4f).build();
        RopeParams rope = RopeParams.builder(6, Pairing.HALF_SPLIT, 10_000).build();
        Value in = rms("in", x);
        Value raw = linear("k", in, 6);
        Value v = b.plainRmsNorm("v_norm", raw, 1, 1e-5f);
        Value attended = b.attention("att", normedHeads("q", in, 2), b.rope("k_rope", raw, rope), v, 0, params);
        assertEquals(List.of("projections", "linear", "plain_rms_norm", "rope", "attention"), fused(attended));
    }

    @Test
    void aNormFusesWithTheProjectionsOfItsResultThatAreLeft() {
        Value in = rms("in", x);
        Value left = linear("left", in, WIDTH);
        Value halves = b.slice("half", linear("right", in, 2 * WIDTH), 2, 0, WIDTH / 2);
        Value sum = b.add("sum", b.multiply("twice", left, left), b.add("more", halves, in));
        assertEquals(List.of("projections", "slice", "multiply", "add", "add"), fused(sum));
    }

    @Test
    void normsOfPartsOfRowsStayOps() {
        Value in = b.layerNorm("in", x, Weight.vector("in", WIDTH / 2), NONE, 1e-5f);
        Value up = b.activate("act", linear("up", in, 20), Activation.SILU);
        assertEquals(List.of("layer_norm", "linear_then"), fused(up));
    }

    @Test
    void normsAfterTheRotationStayOps() {
        RopeParams rope = RopeParams.builder(6, Pairing.HALF_SPLIT, 10_000).build();
        Value in = rms("in", x);
        Value q = b.plainRmsNorm("q_norm", b.rope("q_rope", linear("q", in, 12), rope), 2, 1e-5f);
        Value k = rms("k_norm", b.rope("k_rope", linear("k", in, 6), rope));
        AttentionParams params = AttentionParams.builder(2, 1, 0.4f).build();
        Value attended = b.attention("att", q, k, linear("v", in, 6), 0, params);
        assertEquals(List.of("norm_qkv_rope", "plain_rms_norm", "rms_norm", "attention"), fused(attended));
    }

    /// Ends the graph as decoders do, so that the last sum has two readers.
    private List<String> fused(Value out) {
        Graph graph = b.build(b.add("end", b.scale("half", out, 0.5f), out));
        Graph fused = Fusion.fuse(graph, _ -> true);
        Graph back = fused.expanded();
        assertEquals(graph.ops().size(), back.ops().size());
        assertEquals(
                List.of(),
                graph.ops().stream().filter(op -> !back.ops().contains(op)).toList());
        assertEquals(Fusion.fuse(graph, _ -> false).ops(), graph.ops(), "a backend that wants no fused op gets none");
        List<String> kinds = fused.ops().stream().map(Op::kind).toList();
        return kinds.subList(1, kinds.size() - 2);
    }

    @Test
    void llama() {
        Value sum = b.add("sum", x, linear("o", attention(rms("norm", x), true), WIDTH));
        Value out = b.add("out", sum, linear("down", gated("", rms("ffn_norm", sum)), WIDTH));
        assertEquals(List.of("norm_qkv_rope", "attention", "linear_add", "norm_gate_up", "linear_add"), fused(out));
    }

    @Test
    void normsAfterTheBlocks() {
        Value attended = linear("o", attention(rms("norm", x), true), WIDTH);
        Value sum = b.add("sum", x, rms("post", attended));
        Value forward = linear("down", gated("", rms("ffn_norm", sum)), WIDTH);
        Value out = b.add("out", sum, rms("post_ffw", forward));
        assertEquals(List.of("norm_qkv_rope", "attention", "linear_then", "norm_gate_up", "linear_then"), fused(out));
    }

    @Test
    void normsOnlyAfterTheBlocks() {
        Value sum = b.add("sum", x, rms("post", linear("o", attention(x, true), WIDTH)));
        Value out = b.add("out", sum, rms("post_ffw", linear("down", gated("", sum), WIDTH)));
        assertEquals(List.of("qkv", "attention", "linear_then", "gate_up", "linear_then"), fused(out));
    }

    @Test
    void scaledResiduals() {
        Value attended = b.scale("s", linear("o", attention(rms("norm", x), true), WIDTH), 0.2f);
        Value sum = b.add("sum", x, attended);
        Value forward = b.scale("t", linear("down", gated("", rms("ffn_norm", sum)), WIDTH), 0.2f);
        Value out = b.add("out", sum, forward);
        assertEquals(List.of("norm_qkv_rope", "attention", "linear_then", "norm_gate_up", "linear_then"), fused(out));
    }

    @Test
    void parallelBlockWithLayerNormAndWithoutRotation() {
        Value h = layerNorm("norm", x);
        Value attended = linear("o", attention(h, false), WIDTH);
        Value out = b.add("out", x, b.add("both", attended, linear("down", gated("", h), WIDTH)));
        assertEquals(List.of("qkv", "attention", "linear", "gate_up", "linear_then"), fused(out));
    }

    @Test
    void encoder() {
        Value sum = layerNorm("norm", b.add("sum", x, linear("o", attention(x, false), WIDTH)));
        Value up = b.activate("act", linear("up", sum, 20), Activation.GELU_TANH);
        Value out = layerNorm("out_norm", b.add("out", sum, linear("down", up, WIDTH)));
        assertEquals(List.of("qkv", "attention", "linear_then", "linear_then", "linear_then"), fused(out));
    }

    private Value expert(String name, Value in, Value chosen, int rows) {
        int cols = rows == WIDTH ? 5 : WIDTH;
        return b.expertLinear(name, in, chosen, new Weight(name, cols, rows, 8), NONE);
    }

    private ExpertOp.Router router(Value h) {
        RouterParams params = RouterParams.builder(Gating.SOFTMAX, 2).build();
        return b.router("router", linear("gate_inp", h, 8), params);
    }

    private Value experts(Value h, ExpertOp.Router router) {
        Value gate = b.activate("act", expert("gate_exps", h, router.chosen(), 5), Activation.SILU);
        Value hidden = b.multiply("hidden", gate, expert("up_exps", h, router.chosen(), 5));
        return b.weightedSum("moe", expert("down_exps", hidden, router.chosen(), WIDTH), router.shares());
    }

    @Test
    void expertsAreThreeOps() {
        Value h = rms("ffn_norm", x);
        assertEquals(
                List.of("norm_router", "expert_gate_up", "expert_down"), fused(b.add("out", x, experts(h, router(h)))));
    }

    @Test
    void sharedExpertsJoinTheOthers() {
        Value h = rms("ffn_norm", x);
        Value shared = linear("shared_down", gated("shared", h), WIDTH);
        Value gate = b.activate("sigmoid", linear("shared_gate", h, 1), Activation.SIGMOID);
        Value weighed = b.weightedSum("weighed", shared, gate);
        Value out = b.add("out", x, b.add("both", experts(h, router(h)), weighed));
        assertEquals(List.of("norm_router", "linear_then", "expert_gate_up", "expert_down"), sorted(fused(out)));
    }

    @Test
    void sharedExpertsAfterTheResidual() {
        Value h = rms("ffn_norm", x);
        Value sum = b.add("sum", x, experts(h, router(h)));
        Value out = b.add("out", sum, linear("shared_down", gated("shared", h), WIDTH));
        assertEquals(List.of("norm_router", "expert_gate_up", "expert_down"), fused(out));
    }

    /// The order of ops that do not need each other is free.
    private static List<String> sorted(List<String> kinds) {
        List<String> order = List.of("norm_router", "linear_then", "expert_gate_up", "expert_down");
        return kinds.stream()
                .sorted((a, c) -> Integer.compare(order.indexOf(a), order.indexOf(c)))
                .toList();
    }

    @Test
    void expertsWithoutGateOrWithBothClamped() {
        Value h = rms("ffn_norm", x);
        ExpertOp.Router router = router(h);
        Value up = b.activate("act", expert("up_exps", h, router.chosen(), 5), Activation.RELU_SQUARED);
        Value plain = b.weightedSum("a", expert("down_exps", up, router.chosen(), WIDTH), router.shares());
        Value sum = b.add("sum", x, plain);
        Value h2 = rms("norm2", sum);
        ExpertOp.Router second = b.router(
                "router2",
                linear("gate_inp2", h2, 8),
                RouterParams.builder(Gating.SOFTMAX, 2).build());
        Value glu = b.swigluOai(
                "glu", expert("gate2", h2, second.chosen(), 5), expert("up2", h2, second.chosen(), 5), 1.702f, 7);
        Value out = b.weightedSum("b", expert("down2", glu, second.chosen(), WIDTH), second.shares());
        assertEquals(
                List.of("norm_router", "expert_gate_up", "expert_down", "norm_router", "expert_gate_up", "expert_down"),
                fused(b.add("out", sum, out)));
    }

    @Test
    void sharesOnTheInputStayCoreOps() {
        Value h = rms("ffn_norm", x);
        ExpertOp.Router router = b.router(
                "router",
                linear("gate_inp", h, 8),
                RouterParams.builder(Gating.SIGMOID, 1).build());
        Value in = b.weightedSum("in", h, router.shares());
        Value gate = b.activate("act", expert("gate_exps", in, router.chosen(), 5), Activation.SILU);
        Value hidden = b.multiply("hidden", gate, expert("up_exps", in, router.chosen(), 5));
        Value out = b.add("out", x, expert("down_exps", hidden, router.chosen(), WIDTH));
        Graph fused = Fusion.fuse(b.build(out), _ -> true);
        assertInstanceOf(CoreOp.Add.class, fused.ops().getLast());
        assertEquals(
                List.of("norm_router", "weighted_sum", "expert_linear", "activate", "expert_linear"),
                fused.ops().stream().map(Op::kind).skip(1).limit(5).toList());
    }

    @Test
    void queriesAreScaledByPositionWithTheirProjections() {
        Value in = rms("norm", x);
        RopeParams rope = RopeParams.builder(6, Pairing.HALF_SPLIT, 10_000).build();
        Value q = b.positionScale("scaled", b.rope("q_rope", linear("q", in, 12), rope), 0.1f, 0, 8);
        Value k = b.rope("k_rope", linear("k", in, 6), rope);
        AttentionParams params = AttentionParams.builder(2, 1, 0.4f).build();
        Value attended = b.attention("att", q, k, linear("v", in, 6), 0, params);
        assertEquals(
                List.of("scaled_qkv", "attention", "linear_add"), fused(b.add("sum", x, linear("o", attended, WIDTH))));
    }
}
