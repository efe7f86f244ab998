package dev.tenon.itest.framework;

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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The ops of the page on support, each in the ways that compilers may answer differently to.
final class OpsOfPage {
    private static final Value X = new Value(0, "x", 256);
    private static final Value Y = new Value(1, "y", 256);
    private static final Value TWO = new Value(2, "two", 2);
    private static final Value WIDE = new Value(3, "wide", 512);
    private static final Weight MATRIX = new Weight("matrix", 256, 256);
    private static final Weight VECTOR = Weight.vector("vector", 256);
    private static final Optional<Weight> NONE = Optional.empty();

    /// An op that a bundle defines; what it computes is not asked.
    record Own() implements ReferenceOp {
        @Override
        public String kind() {
            return "NAME";
        }

        @Override
        public List<Value> inputs() {
            return List.of(X);
        }

        @Override
        public List<Value> outputs() {
            return List.of(Y);
        }

        @Override
        public double[][] evaluate(double[][] inputs, float[][] weights) {
            return inputs;
        }
    }

    private OpsOfPage() {}

    static Map<String, Op> opsAndVariants() {
        Map<String, Op> ops = new LinkedHashMap<>();
        ops.put("`embedding`", new CoreOp.Embedding(MATRIX, Y));
        ops.put("`position_embedding`", new CoreOp.PositionEmbedding(MATRIX, Y));
        ops.put("`repeat`", new CoreOp.Repeat(VECTOR, Y));
        ops.put("`given_rows`", new GivenRows(Y));
        ops.put("`replace_rows`", new ReplaceRows(X, Y));
        ops.put("`join_rows`", new JoinRows(X, 1, Y));
        ops.put("`rms_norm`", new CoreOp.RmsNorm(X, VECTOR, 1e-5f, Y));
        ops.put("`layer_norm`", new CoreOp.LayerNorm(X, VECTOR, NONE, 1e-5f, Y));
        ops.put("`linear`", new CoreOp.Linear(X, MATRIX, NONE, Y));
        ops.put(
                "`linear` of some rows of a tensor",
                new CoreOp.Linear(X, new Weight("qkv", 256, 768).rows(256, 512), NONE, Y));
        for (Pairing pairing : Pairing.values()) {
            ops.put("`rope` " + pairing, rope(pairing, NONE, Optional.empty(), 1));
        }
        Optional<Weight> factors = Optional.of(Weight.vector("factors", 32));
        ops.put("`rope` with frequency factors", rope(Pairing.HALF_SPLIT, factors, Optional.empty(), 1));
        ops.put("`rope` with YaRN", rope(Pairing.HALF_SPLIT, NONE, Optional.of(new Yarn(4, 128, 32, 1)), 1));
        ops.put("`rope` with an attention factor", rope(Pairing.HALF_SPLIT, NONE, Optional.empty(), 1.1f));
        RopeParams axes = RopeParams.builder(4, Pairing.HALF_SPLIT, 100)
                .turns(List.of(new RopeParams.Turn(0, 0), new RopeParams.Turn(1, 1)))
                .build();
        ops.put("`rope` along axes", new CoreOp.Rope(X, axes, Y));
        ops.put(
                "`rope` of runs",
                new CoreOp.Rope(
                        X,
                        RopeParams.builder(4, Pairing.INTERLEAVED, 100).run(4).build(),
                        Y));
        ops.put("`attention`", attention(0, 0, true, NONE));
        ops.put("`attention` in a window", attention(128, 0, true, NONE));
        ops.put("`attention` with capped scores", attention(0, 30, true, NONE));
        ops.put("`attention` without a causal mask", attention(0, 0, false, NONE));
        ops.put("`attention` with sinks", attention(0, 0, true, Optional.of(Weight.vector("sinks", 4))));
        AttentionParams spans =
                AttentionParams.builder(4, 4, 0.125f).spans(true).build();
        ops.put("`attention` within spans", new CoreOp.Attention(X, X, X, 0, spans, Y));
        AttentionParams runs = AttentionParams.builder(4, 4, 0.125f).chunk(128).build();
        ops.put("`attention` in runs of positions", new CoreOp.Attention(X, X, X, 0, runs, Y));
        AttentionParams biased = AttentionParams.builder(4, 4, 0.125f)
                .scoreBias(Optional.of(ScoreBias.alibi(ScoreBias.slopes(4, 8))))
                .build();
        ops.put("`attention` with a bias of scores", new CoreOp.Attention(X, X, X, 0, biased, Y));
        ops.put("`add`", new CoreOp.Add(X, X, Y));
        ops.put("`multiply`", new CoreOp.Multiply(X, X, Y));
        for (Activation activation : Activation.values()) {
            ops.put("`activate` " + activation, new CoreOp.Activate(X, activation, Y));
        }
        ops.put("`swiglu_oai`", new CoreOp.SwigluOai(X, X, 1.702f, 7, Y));
        ops.put("`swiglu_oai` without 1", new CoreOp.SwigluOai(X, X, 1, 7, 0, Y));
        ops.put("`xielu`", new PartOp.Xielu(X, 0.8f, 0.8f, 0.5f, -1e-6f, Y));
        ops.put("`scale`", new CoreOp.Scale(X, 2, Y));
        ops.put("`soft_cap`", new CoreOp.SoftCap(X, 30, Y));
        ops.put("`position_scale`", new PositionScale(X, 0.1f, 0, 8192, Y));
        Weight square = new Weight("adapter", 256, 256);
        LowRankAdd.Part adapter = new LowRankAdd.Part(0, square, square, 1);
        ops.put("`low_rank_add` (adapters)", new LowRankAdd(X, X, List.of(adapter), Y));
        ops.put("`select_rows`", new CoreOp.SelectRows(X, Y));
        for (Pooling pooling : Pooling.values()) {
            ops.put("`pool` " + pooling, new CoreOp.Pool(X, pooling, Y));
        }
        RouterParams router =
                RouterParams.builder(Gating.SOFTMAX, 2).normalise(true).build();
        ops.put("`router`", new ExpertOp.Router(X, router, TWO, new Value(4, "shares", 2)));
        RouterParams roots = RouterParams.builder(Gating.SOFTPLUS_ROOT, 2).build();
        ops.put("`router` by roots", new ExpertOp.Router(X, roots, TWO, new Value(4, "shares", 2)));
        Weight experts = new Weight("experts", 256, 256, 8);
        ops.put("`expert_linear`", new ExpertOp.ExpertLinear(X, TWO, experts, NONE, WIDE));
        ops.put("`weighted_sum`", new ExpertOp.WeightedSum(WIDE, TWO, Y));
        ops.put("`slice`", new PartOp.Slice(WIDE, 2, 0, Y));
        ops.put("`grouped_rms_norm`", new PartOp.GroupedRmsNorm(X, new Weight("norms", 64, 4), 0, Y));
        ops.put("`grouped_layer_norm`", new PartOp.GroupedLayerNorm(X, new Weight("norms", 64, 4), 0, Y));
        ops.put("`plain_rms_norm`", new PartOp.PlainRmsNorm(X, 4, 0, Y));
        ops.put("`group_mean`", new PartOp.GroupMean(X, 4, Y));
        ops.put("`join`", new PartOp.Join(X, X, 4, WIDE));
        ops.put("`transpose`", new PartOp.Transpose(X, 4, Y));
        ops.put("`transposed_linear`", new PartOp.TransposedLinear(X, MATRIX, Y));
        ops.put("`clamp`", new PartOp.Clamp(X, NONE, NONE, Y));
        ops.put("`head_linear`", new PartOp.HeadLinear(X, new Weight("heads", 64, 64, 4), Y));
        ops.put("`short_convolution`", new StateOp.ShortConvolution(X, new Weight("taps", 4, 256), NONE, Y));
        ops.put("`centred_convolution`", new CentredConvolution(X, new Weight("taps", 3, 256), NONE, Y));
        Weight pair = Weight.vector("pair", 2);
        ops.put("`selective_scan`", new StateOp.SelectiveScan(WIDE, TWO, pair, pair, pair, 1, Y));
        ops.put(
                "`gated_delta_rule`",
                new StateOp.GatedDeltaRule(WIDE, TWO, TWO, pair, pair, 1, StateOp.KeyHeads.BLOCK, 0, Y));
        Value decays = new Value(6, "decays", 256);
        ops.put(
                "`gated_delta_rule` with decays of keys",
                new StateOp.GatedDeltaRule(
                        new Value(7, "qkv", 768),
                        decays,
                        TWO,
                        pair,
                        Weight.vector("bias", 256),
                        2,
                        StateOp.KeyHeads.BLOCK,
                        0,
                        Y));
        Value wide = new Value(7, "rkv", 768);
        Value positions = new Value(8, "positions", 64);
        ops.put("`select_positions`", new SelectPositions(X, new Value(9, "weights", 1), X, 0, positions));
        AttentionParams one = AttentionParams.builder(1, 1, 1).build();
        ops.put("`selected_attention`", new SelectedAttention(new CoreOp.Attention(X, X, X, 0, one, Y), positions));
        CoreOp.Attention far = new CoreOp.Attention(X, X, X, 1, one, Y);
        CoreOp.Attention near = new CoreOp.Attention(X, X, X, 0, one, Y);
        ops.put("`run_attention`", new RunAttention(near, far, 4, Optional.empty()));
        ops.put("`run_mean`", new RecurrentOp.RunMean(X, X, new Weight("places", 256, 4), Y));
        ops.put("`token_shift`", new RecurrentOp.TokenShift(X, new Weight("ways", 256, 3), wide));
        ops.put("`replacement_rule`", new RecurrentOp.ReplacementRule(wide, X, X, X, 4, Y));
        return ops;
    }

    private static Op rope(Pairing pairing, Optional<Weight> factors, Optional<Yarn> yarn, float attentionFactor) {
        return new CoreOp.Rope(
                X,
                RopeParams.builder(64, pairing, 10_000)
                        .freqFactors(factors)
                        .yarn(yarn)
                        .attentionFactor(attentionFactor)
                        .build(),
                Y);
    }

    private static Op attention(int window, float cap, boolean causal, Optional<Weight> sinks) {
        return new CoreOp.Attention(
                X,
                X,
                X,
                0,
                AttentionParams.builder(4, 4, 0.125f)
                        .slidingWindow(window)
                        .softCap(cap)
                        .causal(causal)
                        .sinks(sinks)
                        .build(),
                Y);
    }
}
