package dev.tenon.itest.testkit;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.OpCases.Case;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;

/// Layers of experts in odd shapes, as models have them: what a backend may fuse into the ops of
/// [FusedExpertOp], and what does not match those.
final class ExpertCases {
    private static final Optional<Weight> NONE = Optional.empty();
    private static final int WIDTH = 33;
    private static final int INNER = 17;

    private final GraphBuilder b;
    private final Value x;

    private ExpertCases(GraphBuilder b, Value x) {
        this.b = b;
        this.x = x;
    }

    /// {@return all cases}
    static List<Case> all() {
        Map<String, BiFunction<GraphBuilder, Value, Value>> ways = new TreeMap<>();
        ways.put("one of one", (b, x) -> new ExpertCases(b, x).gated(1, softmax(1), Activation.SILU));
        ways.put("all of five", (b, x) -> new ExpertCases(b, x).gated(5, softmax(5), Activation.GELU_TANH));
        ways.put("two of 150", (b, x) -> new ExpertCases(b, x).gated(150, softmax(2), Activation.SILU));
        ways.put("the same for all tokens", (b, x) -> new ExpertCases(b, x).sameForAll());
        ways.put("squared ReLU, groups", (b, x) -> new ExpertCases(b, x).withoutGate());
        ways.put("gpt-oss", (b, x) -> new ExpertCases(b, x).clamped());
        ways.put("shared", (b, x) -> new ExpertCases(b, x).shared(false));
        ways.put("shared with a gate", (b, x) -> new ExpertCases(b, x).shared(true));
        ways.put("shares on the input", (b, x) -> new ExpertCases(b, x).sharesOnTheInput());
        return ways.entrySet().stream()
                .map(way -> {
                    String name = "experts, " + way.getKey();
                    return new Case(
                            name,
                            256,
                            true,
                            false,
                            () -> RandomModels.ops(name, 11, WIDTH, TestFormats.F32, way.getValue()));
                })
                .toList();
    }

    private static RouterParams softmax(int used) {
        return RouterParams.builder(Gating.SOFTMAX, used).normalise(true).build();
    }

    private Value norm() {
        return b.rmsNorm("ffn_norm", x, Weight.vector("ffn_norm.weight", x.width()), 1e-5f);
    }

    private ExpertOp.Router router(Value h, int experts, RouterParams params) {
        return b.router("router", OpCases.project(b, h, "gate_inp", experts), params);
    }

    private Value expert(String name, Value in, ExpertOp.Router router, int experts, int rows, boolean bias) {
        int cols = rows == INNER ? WIDTH : INNER;
        Optional<Weight> offsets = bias ? Optional.of(new Weight(name + ".bias", rows, experts)) : NONE;
        Weight matrices = new Weight(name + ".weight", cols, rows, experts);
        return b.expertLinear(name, in, router.chosen(), matrices, offsets);
    }

    private Value experts(Value h, ExpertOp.Router router, int experts, Activation activation) {
        Value gate = b.activate("act", expert("gate_exps", h, router, experts, INNER, false), activation);
        Value hidden = b.multiply("hidden", gate, expert("up_exps", h, router, experts, INNER, false));
        Value down = expert("down_exps", hidden, router, experts, WIDTH, false);
        return b.weightedSum("moe", down, router.shares());
    }

    private Value gated(int experts, RouterParams params, Activation activation) {
        Value h = norm();
        return b.add("out", x, experts(h, router(h, experts, params), experts, activation));
    }

    /// Of equal scores the first ones win: some experts have all tokens, the others none.
    private Value sameForAll() {
        Value h = norm();
        Value logits = b.scale("same", OpCases.project(b, h, "gate_inp", 6), 0);
        return b.add("out", x, experts(h, b.router("router", logits, softmax(2)), 6, Activation.SILU));
    }

    private Value withoutGate() {
        Value h = norm();
        RouterParams params = RouterParams.builder(Gating.SIGMOID, 3)
                .normalise(true)
                .scale(2.5f)
                .bias(Optional.of(Weight.vector("exp_probs_b.bias", 16)))
                .groups(4)
                .groupsUsed(2)
                .build();
        ExpertOp.Router router = router(h, 16, params);
        Value up = b.activate("act", expert("up_exps", h, router, 16, INNER, false), Activation.RELU_SQUARED);
        Value down = expert("down_exps", up, router, 16, WIDTH, false);
        return b.add("out", b.weightedSum("moe", down, router.shares()), x);
    }

    private Value clamped() {
        Value h = b.scale("large", norm(), 6);
        ExpertOp.Router router = router(h, 7, softmax(4));
        Value gate = expert("gate_exps", h, router, 7, INNER, true);
        Value up = expert("up_exps", h, router, 7, INNER, true);
        Value down = expert("down_exps", b.swigluOai("glu", gate, up, 1.702f, 7), router, 7, WIDTH, true);
        return b.add("out", x, b.weightedSum("moe", down, router.shares()));
    }

    private Value shared(boolean gate) {
        Value h = norm();
        Value routed = experts(h, router(h, 6, softmax(2)), 6, Activation.SILU);
        Value act = b.activate("act_shexp", OpCases.project(b, h, "gate_shexp", 21), Activation.SILU);
        Value hidden = b.multiply("hidden_shexp", act, OpCases.project(b, h, "up_shexp", 21));
        Value shared = OpCases.project(b, hidden, "down_shexp", WIDTH);
        if (gate) {
            Value share = b.activate("share", OpCases.project(b, h, "gate_inp_shexp", 1), Activation.SIGMOID);
            return b.add("out", x, b.add("both", routed, b.weightedSum("weighed", shared, share)));
        }
        return b.add("out", b.add("first", x, routed), shared);
    }

    private Value sharesOnTheInput() {
        Value h = norm();
        ExpertOp.Router router =
                router(h, 5, RouterParams.builder(Gating.SIGMOID, 1).build());
        Value in = b.weightedSum("in", h, router.shares());
        Value gate = b.activate("act", expert("gate_exps", in, router, 5, INNER, false), Activation.SILU);
        Value hidden = b.multiply("hidden", gate, expert("up_exps", in, router, 5, INNER, false));
        return b.add("out", x, expert("down_exps", hidden, router, 5, WIDTH, false));
    }

    /// A feed-forward layer of experts with fused gate and up matrices and biases, a shared expert, and a residual.
    ///
    /// @param format format of the experts
    /// @param width width of the embedding, whole blocks
    /// @param feedForward width inside of an expert, whole blocks
    /// @return the model; the caller closes it
    static Model inFormat(QuantFormat format, int width, int feedForward) {
        return RandomModels.ops("experts", 11, width, format, (b, x) -> {
            ExpertOp.Router router = b.router("r", OpCases.project(b, x, "gate_inp", 7), softmax(3));
            Weight gateUp = new Weight("ffn_gate_up_exps.weight", width, 2 * feedForward, 7);
            Weight down = new Weight("ffn_down_exps.weight", feedForward, width, 7);
            Weight upBias = new Weight("ffn_up_exps.bias", feedForward, 7);
            Weight downBias = new Weight("ffn_down_exps.bias", width, 7);
            Value gate = b.expertLinear("gate", x, router.chosen(), gateUp.rows(0, feedForward), NONE);
            Weight upRows = gateUp.rows(feedForward, 2 * feedForward);
            Value up = b.expertLinear("up", x, router.chosen(), upRows, Optional.of(upBias));
            Value hidden = b.multiply("hidden", b.activate("act", gate, Activation.SILU), up);
            Value out = b.expertLinear("down", hidden, router.chosen(), down, Optional.of(downBias));
            Value act = b.activate("act_shexp", OpCases.project(b, x, "gate_shexp", feedForward), Activation.SILU);
            Value inner = b.multiply("hidden_shexp", act, OpCases.project(b, x, "up_shexp", feedForward));
            Value both = b.add(
                    "both", b.weightedSum("moe", out, router.shares()), OpCases.project(b, inner, "down_shexp", width));
            return b.add("residual", x, both);
        });
    }
}
