package dev.tenon.models.qwen3;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.StateOp.KeyHeads;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DraftHead;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.StateBlocks;
import dev.tenon.api.model.blocks.StateShape;
import java.util.Optional;

/// What the Qwen models with gated delta rules have in common: every fourth layer, or as the file says, has
/// gated attention, the others a gated delta rule; feed-forward layers are dense or have experts.
final class GatedDeltaGraph {
    private static final int MAX_WIDTH = 1 << 24;

    private final ModelConfig c;
    private final ModelKeys keys;
    private final DecoderBlocks d;
    private final GraphBuilder g;
    private final StateShape shape;
    private final StateBlocks states;
    private final KeyHeads sharing;
    private final Optional<ExpertShape> experts;

    /// @param sharing which key head a value head uses
    /// @param experts of the feed-forward layers; empty where they are dense
    GatedDeltaGraph(ModelSource source, ModelConfig config, KeyHeads sharing, Optional<ExpertShape> experts) {
        this.c = config;
        this.keys = ModelKeys.of(source);
        this.d = new DecoderBlocks(source, config);
        this.g = d.graph();
        this.shape = StateShape.read(keys);
        this.states = new StateBlocks(d, shape);
        this.sharing = sharing;
        this.experts = experts;
        if (config.valueLength() != config.keyLength()) {
            throw keys.impossible("attention.value_length", config.valueLength(), "the key length");
        }
        int[] sections = keys.has("rope.dimension_sections")
                ? keys.perLayer("rope.dimension_sections", 4, 0, MAX_WIDTH)
                : new int[4];
        if (sections[3] != 0) {
            throw keys.unsupported("rope.dimension_sections", sections[3] + " in the fourth place", "0 there");
        }
        if (shape.inner() != shape.heads() * shape.stateLength()) {
            throw keys.impossible(
                    "ssm.inner_size", shape.inner(), shape.heads() + " heads of " + shape.stateLength() + " elements");
        }
    }

    Graph build() {
        boolean[] attention = attentionLayers();
        RopeParams rope = rope();
        Value x = d.embedding(); //                                                                   [T, E]
        int cached = 0;
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value mixed = attention[layer] ? attention(blk, normed, cached++, rope) : delta(blk, normed);
            x = withForward(blk, g.add(blk + "residual", x, mixed));
        }
        return d.build(x); //                                                                         [L, nVocab]
    }

    /// {@return the head, if the file has one: it has attention, whatever a layer in its place would have}
    Optional<Graph> head() {
        return DraftHead.of(d, (layer, x) -> {
            String blk = "blk." + layer + ".";
            Value mixed = attention(blk, d.rmsNorm(blk + "attn_norm", x), 0, rope());
            return withForward(blk, g.add(blk + "residual", x, mixed));
        });
    }

    private RopeParams rope() {
        RopeParams.Builder plain = RopeKeys.read(keys, c, Pairing.HALF_SPLIT);
        return RopeKeys.alongAxes(keys, plain, c.ropeDim() / 2, true).build();
    }

    private Value withForward(String blk, Value x) {
        Value normed = d.rmsNorm(blk + "post_attention_norm", x);
        Value forward = experts.isPresent()
                ? SharedExpert.beside(d, keys, blk, normed, experts.get())
                : d.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU);
        return g.add(blk + "ffn_residual", x, forward);
    }

    /// Attention whose result is multiplied with sigmoids; `attn_q` gives each head a query and a gate.
    private Value attention(String blk, Value x, int cacheLayer, RopeParams rope) {
        int heads = c.headCount();
        int length = c.keyLength();
        Value both = d.linear(blk + "attn_q", x, 2 * heads * length);
        Value q = g.slice(blk + "attn_query", both, heads, 0, length);
        Value gate = g.slice(blk + "attn_gate", both, heads, length, length);
        Value k = d.linear(blk + "attn_k", x, c.headCountKv() * length);
        Value v = d.linear(blk + "attn_v", x, c.headCountKv() * c.valueLength());
        q = g.rope(blk + "q_rope", d.rmsNorm(blk + "attn_q_norm", q, length), rope);
        k = g.rope(blk + "k_rope", d.rmsNorm(blk + "attn_k_norm", k, length), rope);
        Value attended = g.attention(
                blk + "attn", q, k, v, cacheLayer, d.attentionParams(blk).build());
        Value open = g.activate(blk + "attn_gate_act", gate, Activation.SIGMOID);
        return d.linear(blk + "attn_output", g.multiply(blk + "attn_gated", attended, open), c.embeddingLength());
    }

    /// A gated delta rule over convolved queries, keys and values; its heads are normed, then gated.
    private Value delta(String blk, Value x) {
        Value qkv = states.convolved(blk, d.linear(blk + "attn_qkv", x, shape.convolved()));
        Value gate = d.linear(blk + "attn_gate", x, shape.inner());
        int heads = shape.heads();
        Value decay;
        Value beta;
        if (keys.source().has(blk + "ssm_ba.weight")) {
            // For each key head the betas of its value heads, then their decays.
            Value both = d.linear(blk + "ssm_ba", x, 2 * heads);
            beta = g.slice(blk + "ssm_beta", both, shape.groups(), 0, heads / shape.groups());
            decay = g.slice(blk + "ssm_alpha", both, shape.groups(), heads / shape.groups(), heads / shape.groups());
        } else {
            beta = d.linear(blk + "ssm_beta", x, heads);
            decay = d.linear(blk + "ssm_alpha", x, heads);
        }
        Value out = g.value(blk + "delta", shape.inner());
        g.add(new StateOp.GatedDeltaRule(
                qkv,
                decay,
                beta,
                Weight.vector(blk + "ssm_a", shape.heads()),
                Weight.vector(blk + "ssm_dt.bias", shape.heads()),
                shape.groups(),
                sharing,
                c.rmsEps(),
                out));
        Value normed = d.rmsNorm(blk + "ssm_norm", out, shape.stateLength());
        Value open = g.activate(blk + "delta_gate_act", gate, Activation.SILU);
        return d.linear(blk + "ssm_out", g.multiply(blk + "delta_gated", normed, open), c.embeddingLength());
    }

    /// {@return which layers have attention: every so many, or as an array says which are recurrent}
    private boolean[] attentionLayers() {
        String key = "attention.recurrent_layers";
        boolean[] attention = new boolean[c.blockCount()];
        if (keys.has(key)) {
            boolean[] recurrent = keys.flagPerLayer(key, attention.length);
            for (int layer = 0; layer < attention.length; layer++) {
                attention[layer] = !recurrent[layer];
            }
            return attention;
        }
        int interval = keys.integerOr("full_attention_interval", 4, 1, Integer.MAX_VALUE);
        for (int layer = 0; layer < attention.length; layer++) {
            attention[layer] = (layer + 1) % interval == 0;
        }
        return attention;
    }
}
