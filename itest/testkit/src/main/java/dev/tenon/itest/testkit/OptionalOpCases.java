package dev.tenon.itest.testkit;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.OpCases.Case;
import dev.tenon.itest.testkit.models.OwnOp;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/// Ops of experts and encoders, and ways of usual ops that only some models need: a backend may refuse them.
/// [StateOpCases] follow them.
final class OptionalOpCases {
    private static final Optional<Weight> NONE = Optional.empty();

    private final List<Case> cases = new ArrayList<>();

    private OptionalOpCases() {}

    /// {@return all cases}
    static List<Case> all() {
        OptionalOpCases all = new OptionalOpCases();
        all.elementwise();
        all.norms();
        all.lookUps();
        all.ropes();
        all.turns();
        all.rearranged();
        all.attentions();
        all.pools();
        all.centredConvolutions();
        all.views();
        all.routers();
        all.experts();
        all.own();
        all.cases.addAll(StateOpCases.all());
        return List.copyOf(all.cases);
    }

    private void add(String name, int n, int width, BiFunction<GraphBuilder, Value, Value> ops) {
        cases.add(new Case(name, n, true, false, () -> RandomModels.ops(name, 11, width, TestFormats.F32, ops)));
    }

    private void elementwise() {
        for (int width : OpCases.WIDTHS) {
            for (Activation activation :
                    List.of(Activation.RELU_SQUARED, Activation.SIGMOID, Activation.TANH, Activation.GELU_ERF)) {
                for (int size : new int[] {3, 60}) {
                    String name = "activate " + activation + " times " + size + " width=" + width;
                    add(name, 1, width, (b, x) -> b.activate("a", b.scale("s", x, size), activation));
                }
            }
            for (int size : new int[] {0, 3, 60}) {
                add("xielu times " + size + " width=" + width, 1, width, (b, x) -> {
                    Value out = b.value("bent", width);
                    b.add(new PartOp.Xielu(b.scale("s", x, size), 1.2f, 0.8f, 0.5f, -1e-6f, out));
                    return out;
                });
            }
            add("position_scale width=" + width, 1, width, (b, x) -> b.positionScale("s", x, 0.5f, 1, 3));
            add("swiglu_oai width=" + width, 1, width, (b, x) -> {
                Value gate = b.scale("gate", x, 5);
                return b.swigluOai("glu", gate, b.scale("up", x, -6), 1.702f, 7);
            });
            add("swiglu_oai without 1 width=" + width, 1, width, (b, x) -> {
                Value out = b.value("glu", width);
                b.add(new CoreOp.SwigluOai(b.scale("gate", x, 5), b.scale("up", x, -6), 1, 4, 0, out));
                return out;
            });
        }
    }

    private void norms() {
        for (int width : OpCases.WIDTHS) {
            for (boolean bias : new boolean[] {false, true}) {
                Optional<Weight> offsets = bias ? Optional.of(Weight.vector("norm.bias", width)) : NONE;
                String name = "layer_norm width=" + width + " bias=" + bias;
                // Without eps, the single element of a row would be 0 / 0.
                add(
                        name,
                        width,
                        width,
                        (b, x) -> b.layerNorm("n", x, Weight.vector("norm.weight", width), offsets, 1e-5f));
            }
        }
        for (int[] shape : new int[][] {{1, 1}, {31, 1}, {3, 5}, {65, 2}}) {
            int width = shape[0] * shape[1];
            String name = "group_mean of " + shape[1] + " groups of " + shape[0];
            add(name, shape[0], width, (b, x) -> b.groupMean("mean", b.scale("s", x, 30), shape[1]));
        }
        add(
                "layer_norm of 5 groups of 16",
                16,
                80,
                (b, x) -> b.layerNorm("n", x, Weight.vector("norm.weight", 16), NONE, 1e-12f));
    }

    private void lookUps() {
        for (int width : OpCases.WIDTHS) {
            add(
                    "position_embedding width=" + width,
                    1,
                    width,
                    (b, x) -> b.add("sum", x, b.positionEmbedding("p", new Weight("position_embd.weight", width, 40))));
            add("repeat width=" + width, 1, width, (b, x) -> {
                Weight types = new Weight("token_types.weight", width, 2);
                return b.add("sum", x, b.repeat("type", types.rows(1, 2)));
            });
        }
    }

    private void ropes() {
        Optional<Yarn> yarn = Optional.of(new Yarn(8, 64, 32, 1));
        for (RopeParams.Pairing pairing : RopeParams.Pairing.values()) {
            for (boolean scaled : new boolean[] {false, true}) {
                Optional<Weight> factors = scaled ? NONE : Optional.of(Weight.vector("rope_freqs.weight", 16));
                RopeParams params = RopeParams.builder(34, pairing, 500)
                        .ropeDim(32)
                        .freqFactors(factors)
                        .yarn(scaled ? yarn : Optional.empty())
                        .attentionFactor(scaled ? 1.2f : 0.9f)
                        .build();
                String name = "rope " + pairing + (scaled ? " yarn" : " factors") + " and attention factor";
                add(name, 16, 3 * 34, (b, x) -> b.rope("r", x, params));
                RopeParams back = params.toBuilder().run(3).freqScale(-1).build();
                add(name + " back, of runs", 16, 3 * 34, (b, x) -> b.rope("r", x, back));
            }
        }
    }

    /// Along axes, of which a text has three, with elements that are paired in parts of a head.
    private void turns() {
        for (RopeParams.Pairing pairing : RopeParams.Pairing.values()) {
            List<RopeParams.Turn> turns = IntStream.range(0, 8)
                    .mapToObj(i -> new RopeParams.Turn(i % 4, 7 - i))
                    .toList();
            RopeParams params = RopeParams.builder(17, pairing, 500)
                    .ropeDim(16)
                    .turns(turns)
                    .span(8)
                    .build();
            add("rope " + pairing + " along axes", 16, 3 * 17, (b, x) -> b.rope("r", x, params));
        }
    }

    private void rearranged() {
        for (int width : OpCases.WIDTHS) {
            add("replace_rows width=" + width, 1, width, (b, x) -> b.replaceRows("inputs", x));
            add("transpose width=" + 3 * width, 1, 3 * width, (b, x) -> b.transpose("t", x, 3));
            add(
                    "clamp width=" + width,
                    1,
                    width,
                    (b, x) -> b.clamp(
                            "c", x, Optional.of(Weight.vector("least", 1)), Optional.of(Weight.vector("most", 1))));
            add(
                    "transposed_linear width=" + width,
                    width,
                    width,
                    (b, x) -> b.transposedLinear("l", x, new Weight("m.weight", 2 * width, width)));
        }
    }

    private void attentions() {
        for (int[] heads : new int[][] {{1, 1, 8}, {4, 2, 16}, {6, 2, 33}, {4, 2, 64}}) {
            for (int window : new int[] {0, 1, 5}) {
                attention(heads, window, 0, true, true);
                attention(heads, window, 0, false, false);
            }
            attention(heads, 7, 2.5f, true, true);
            attention(heads, 7, 2.5f, false, true);
            for (int window : new int[] {0, 5}) {
                chunkedAttention(heads, window);
            }
            for (boolean causal : new boolean[] {true, false}) {
                biasedAttention(heads, 0, causal, ScoreBias.alibi(ScoreBias.slopes(heads[0], 8)));
                Weight table = new Weight("attn_rel_b.weight", heads[0], 16);
                biasedAttention(heads, causal ? 2.5f : 0, causal, ScoreBias.relative(table, 20));
            }
        }
        int[] longHeads = {6, 1, 330};
        attention(longHeads, 0, 0, true, true);
        attention(longHeads, 5, 2.5f, true, false);
        attention(longHeads, 5, 0, false, false);
        sharedLayers(true);
        sharedLayers(false);
        valuesInKeys(2, 8, 8);
        valuesInKeys(5, 96, 64);
        selected(1, 1, 32, 1);
        selected(3, 2, 64, 5);
        selected(4, 16, 32, 24);
        selected(2, 3, 32, 200);
    }

    private void chunkedAttention(int[] heads, int window) {
        int size = heads[2];
        String name = "attention heads=" + heads[0] + "/" + heads[1] + " size=" + size + " window=" + window
                + " in runs of 16";
        AttentionParams params = AttentionParams.builder(heads[0], heads[1], 0.4f)
                .slidingWindow(window)
                .chunk(16)
                .build();
        add(name, Math.max(size, 64), 24, (b, x) -> {
            Value q = OpCases.project(b, x, "q", heads[0] * size);
            Value k = OpCases.project(b, x, "k", heads[1] * size);
            Value v = OpCases.project(b, x, "v", heads[1] * size);
            return b.attention("att", q, k, v, 0, params);
        });
    }

    private void biasedAttention(int[] heads, float cap, boolean causal, ScoreBias bias) {
        int size = heads[2];
        AttentionParams params = AttentionParams.builder(heads[0], heads[1], 0.4f)
                .softCap(cap)
                .causal(causal)
                .scoreBias(Optional.of(bias))
                .build();
        String name = "attention heads=" + heads[0] + "/" + heads[1] + " size=" + size
                + (bias.table().isPresent() ? " relative" : " alibi") + (cap > 0 ? " cap=" + cap : "")
                + (causal ? "" : " encoder");
        cases.add(new Case(
                name,
                Math.max(size, 64),
                true,
                !causal,
                () -> RandomModels.ops(name, 11, 24, TestFormats.F32, (b, x) -> {
                    Value q = OpCases.project(b, x, "q", heads[0] * size);
                    Value k = OpCases.project(b, x, "k", heads[1] * size);
                    Value v = OpCases.project(b, x, "v", heads[1] * size);
                    return b.attention("att", q, k, v, 0, params);
                })));
    }

    /// Three ops of which the last two read keys and values of the first, between ops of a layer with other heads.
    private void sharedLayers(boolean normed) {
        String name = "attention of three ops with the keys of one" + (normed ? ", heads normed" : "");
        RopeParams rope =
                RopeParams.builder(16, RopeParams.Pairing.HALF_SPLIT, 500).build();
        add(name, 64, 24, (b, x) -> {
            Value in = b.rmsNorm("norm", x, Weight.vector("norm.weight", 24), 1e-6f);
            Value k = b.rope("k_rope", heads(b, in, "k", 2, normed), rope);
            Value v = OpCases.project(b, in, "v", 2 * 16);
            Value values = normed ? b.plainRmsNorm("v_norm", v, 2, 1e-6f) : v;
            Value sum = x;
            for (int window : new int[] {0, 5, 3}) {
                Value from = window == 0 ? in : sum;
                Value q = b.rope("q_rope" + window, heads(b, from, "q" + window, 4, normed), rope);
                AttentionParams params = AttentionParams.builder(4, 2, 0.4f)
                        .slidingWindow(window)
                        .build();
                Value attended = b.attention("att" + window, q, k, values, 1, params);
                sum = b.add("sum" + window, sum, OpCases.project(b, attended, "o" + window, 24));
                if (window == 0) {
                    Value other = OpCases.project(b, sum, "other", 8);
                    Value own = b.attention("own", other, other, other, 0, 1, 1, 0.4f);
                    sum = b.add("mixed", sum, OpCases.project(b, own, "mix", 24));
                }
            }
            return sum;
        });
    }

    private static Value heads(GraphBuilder b, Value x, String name, int count, boolean normed) {
        Value heads = OpCases.project(b, x, name, count * 16);
        return normed ? b.rmsNorm(name + "_norm", heads, Weight.vector(name + "_norm.weight", 16), 1e-6f) : heads;
    }

    private void valuesInKeys(int heads, int keyLength, int valueLength) {
        AttentionParams params =
                AttentionParams.builder(heads, 1, 0.4f).valuesInKeys(true).build();
        String name = "attention heads=" + heads + "/1 size=" + keyLength + " values=" + valueLength + " in keys";
        add(name, Math.max(keyLength, 64), 24, (b, x) -> {
            Value q = OpCases.project(b, x, "q", heads * keyLength);
            Value k = OpCases.project(b, x, "k", keyLength);
            return b.attention("att", q, k, b.slice("v", k, 1, 0, valueLength), 0, params);
        });
    }

    /// Attention to some positions, that are chosen by keys in a layer of their own.
    private void selected(int heads, int indexHeads, int indexLength, int count) {
        String name = "selected_attention of " + count + " positions, " + heads + " heads, chosen by " + indexHeads
                + " of " + indexLength;
        add(name, 64, 24, (b, x) -> {
            Value q = OpCases.project(b, x, "q", heads * 32);
            Value k = OpCases.project(b, x, "k", 32);
            Value chosen = b.selectPositions(
                    "positions",
                    OpCases.project(b, x, "index_q", indexHeads * indexLength),
                    OpCases.project(b, x, "index_weights", indexHeads),
                    OpCases.project(b, x, "index_k", indexLength),
                    1,
                    count);
            Value out = b.value("att", heads * 32);
            AttentionParams params = AttentionParams.builder(heads, 1, 0.4f).build();
            b.add(new SelectedAttention(new CoreOp.Attention(q, k, k, 0, params, out), chosen));
            return out;
        });
    }

    private void attention(int[] heads, int window, float cap, boolean causal, boolean sinks) {
        int size = heads[2];
        String name = "attention heads=" + heads[0] + "/" + heads[1] + " size=" + size + " window=" + window + " cap="
                + cap + (causal ? "" : " encoder") + (sinks ? " sinks" : "");
        cases.add(new Case(
                name,
                Math.max(size, 64),
                true,
                !causal,
                () -> RandomModels.ops(name, 11, 24, TestFormats.F32, (b, x) -> {
                    Value q = OpCases.project(b, x, "q", heads[0] * size);
                    Value k = OpCases.project(b, x, "k", heads[1] * size);
                    Value v = OpCases.project(b, x, "v", heads[1] * size);
                    Value out = b.value("att", heads[0] * size);
                    Optional<Weight> sink = sinks ? Optional.of(Weight.vector("attn_sinks.weight", heads[0])) : NONE;
                    b.add(new CoreOp.Attention(
                            q,
                            k,
                            v,
                            0,
                            AttentionParams.builder(heads[0], heads[1], 0.4f)
                                    .slidingWindow(window)
                                    .softCap(cap)
                                    .causal(causal)
                                    .sinks(sink)
                                    .build(),
                            out));
                    return out;
                })));
    }

    private void pools() {
        for (Pooling pooling : Pooling.values()) {
            String name = "pool " + pooling;
            cases.add(new Case(
                    name,
                    40,
                    true,
                    true,
                    () -> RandomModels.whole(
                            name,
                            11,
                            24,
                            TestFormats.F32,
                            (b, x) -> b.scale("half", b.pool("p", b.scale("twice", x, 2), pooling), 0.5f))));
        }
    }

    private void centredConvolutions() {
        for (int taps : new int[] {1, 2, 3, 5}) {
            for (boolean bias : new boolean[] {false, true}) {
                String name = "centred_convolution of " + taps + " bias=" + bias;
                Optional<Weight> offsets = bias ? Optional.of(Weight.vector("conv.bias", 31)) : NONE;
                cases.add(new Case(
                        name,
                        taps,
                        true,
                        true,
                        () -> RandomModels.ops(
                                name,
                                11,
                                31,
                                TestFormats.F32,
                                (b, x) -> b.centredConvolution(
                                        "conv", x, new Weight("conv.weight", taps, 31), offsets))));
            }
        }
    }

    private void views() {
        add("linear of some rows", 64, 64, (b, x) -> {
            Weight fused = new Weight("qkv.weight", 64, 50);
            Value first = b.linear("first", x, fused.rows(0, 21), NONE);
            Value last = b.linear("last", x, fused.rows(29, 50), NONE);
            return b.add("sum", first, last);
        });
    }

    private void routers() {
        Optional<Weight> bias = Optional.of(Weight.vector("exp_probs_b.bias", 12));
        Map<String, RouterParams> ways = Map.of(
                "softmax", RouterParams.builder(Gating.SOFTMAX, 3).build(),
                "softmax normalised",
                        RouterParams.builder(Gating.SOFTMAX, 3).normalise(true).build(),
                "sigmoid of all", RouterParams.builder(Gating.SIGMOID, 12).build(),
                "sigmoid bias",
                        RouterParams.builder(Gating.SIGMOID, 2)
                                .normalise(true)
                                .scale(2.5f)
                                .bias(bias)
                                .build(),
                "sigmoid groups",
                        RouterParams.builder(Gating.SIGMOID, 4)
                                .normalise(true)
                                .bias(bias)
                                .groups(4)
                                .groupsUsed(2)
                                .build(),
                "sigmoid of one", RouterParams.builder(Gating.SIGMOID, 1).build(),
                "root of softplus",
                        RouterParams.builder(Gating.SOFTPLUS_ROOT, 3)
                                .normalise(true)
                                .bias(bias)
                                .build());
        ways.forEach((way, params) -> {
            add(
                    "router " + way + ", chosen",
                    24,
                    24,
                    (b, x) -> route(b, x, params).chosen());
            add(
                    "router " + way + ", shares",
                    24,
                    24,
                    (b, x) -> route(b, x, params).shares());
        });
    }

    private static ExpertOp.Router route(GraphBuilder b, Value x, RouterParams params) {
        return b.router("r", b.scale("logits", OpCases.project(b, x, "gate_inp", 12), 3), params);
    }

    /// An op of a model bundle, before and after rows are selected, with a tensor of which it reads some rows.
    private void own() {
        for (int width : new int[] {1, 7, 64, 65}) {
            String name = "op of a bundle width=" + width;
            cases.add(new Case(
                    name,
                    2 * width,
                    true,
                    false,
                    () -> RandomModels.whole(name, 11, width, TestFormats.F32, (b, x) -> {
                        Weight tensor = new Weight("own.weight", width, 2 * width + 1);
                        OwnOp first = own(b, "first", x, tensor.rows(1, width + 1), -0.5f);
                        OwnOp last = own(b, "last", b.selectRows("rows", first.sum()), tensor.rows(0, width), 2);
                        Value top = b.linear("spread", last.top(), new Weight("spread.weight", 1, width), NONE);
                        return b.add("logits", last.sum(), top);
                    })));
        }
    }

    private static OwnOp own(GraphBuilder b, String name, Value x, Weight matrix, float factor) {
        OwnOp op = new OwnOp(x, x, matrix, factor, b.value(name + ".sum", matrix.rows()), b.value(name + ".top", 1));
        b.add(op);
        return op;
    }

    private void experts() {
        cases.add(new Case("experts", 128, true, false, () -> ExpertCases.inFormat(TestFormats.F32, 33, 17)));
        cases.addAll(ExpertCases.all());
        add("weighted_sum with one weight", 24, 24, (b, x) -> {
            Value gate = b.activate("sigmoid", OpCases.project(b, x, "gate_inp_shexp", 1), Activation.SIGMOID);
            return b.weightedSum("gated", x, gate);
        });
    }
}
