package org.example.sandwich;

import dev.tenon.api.graph.AttentionParams;
import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `sandwich` architecture, which no published model has: that of Gemma 3 under another name.
///
/// What differs from a plain llama: embeddings are multiplied by the root of their width; attention
/// and the feed-forward layer have a norm after them, too; query and key heads are normalised
/// before rotation; the gate is a GELU. Five layers of six are local: they see a window of
/// positions and rotate with a base of their own; every sixth sees everything. The norm weights are
/// used as stored.
@Component(service = ModelArchitecture.class, property = "model.architecture=sandwich")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class SandwichArchitecture implements ModelArchitecture {
    private static final String TEMPLATE =
            """
            {%- for message in messages -%}
            <start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}
            {{ message.content }}<end_of_turn>
            {% endfor -%}
            {%- if add_generation_prompt -%}
            <start_of_turn>model
            {% endif -%}
            """;

    private static final float GLOBAL_FREQ_BASE = 1_000_000;
    private static final float LOCAL_FREQ_BASE = 10_000;
    private static final int GLOBAL_EVERY = 6;
    /// The model of 27 billion weights scales its scores by the width that a head would have, not
    /// by what it has.
    private static final int LAYERS_OF_27B = 62;

    @Override
    public String id() {
        return "sandwich";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.read(source, GLOBAL_FREQ_BASE);
        refuseSoftCaps(source.metadata());
        return new ModelDefinition(config, graph(config, source));
    }

    /// Files of models that were tuned for chats (`it`, as publishers call it) have a template from here, if they have
    /// none of their own.
    @Override
    public Optional<String> chatTemplate(GgufMetadata metadata) {
        boolean chats = metadata.string("general.finetune").equals(Optional.of("it"));
        return chats && !metadata.has("tokenizer.chat_template") ? Optional.of(TEMPLATE) : Optional.empty();
    }

    private static Graph graph(ModelConfig c, ModelSource source) {
        GraphBuilder g = new GraphBuilder(c.architecture());
        int qWidth = c.headCount() * c.keyLength();
        int kWidth = c.headCountKv() * c.keyLength();
        int vWidth = c.headCountKv() * c.valueLength();
        int window =
                source.metadata().integer("sandwich.attention.sliding_window").orElse(0);
        float localBase =
                (float) source.metadata().number("sandwich.rope.freq_base_swa").orElse(LOCAL_FREQ_BASE);
        RopeParams globalRope = rope(c, c.ropeFreqBase(), c.ropeFreqScale());
        RopeParams localRope = rope(c, localBase, 1);

        Weight embedding = new Weight("token_embd.weight", c.embeddingLength(), c.vocabularySize());
        Value x = g.scale("embd_scaled", g.embedding("embd", embedding), (float) Math.sqrt(c.embeddingLength()));
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            boolean local = window > 0 && layer % GLOBAL_EVERY != GLOBAL_EVERY - 1;
            RopeParams rope = local ? localRope : globalRope;

            Value normed = norm(g, c, x, blk + "attn_norm");
            Value q = projection(g, normed, blk + "attn_q", qWidth); //                    [T, H * K]
            Value k = projection(g, normed, blk + "attn_k", kWidth); //                    [T, Hkv * K]
            Value v = projection(g, normed, blk + "attn_v", vWidth); //                    [T, Hkv * V]
            q = g.rope(blk + "q_rope", headNorm(g, c, q, blk + "attn_q_norm"), rope);
            k = g.rope(blk + "k_rope", headNorm(g, c, k, blk + "attn_k_norm"), rope);
            Value attended = attention(g, c, blk + "attn", q, k, v, layer, local ? window : 0); // [T, H * V]
            Value projected = projection(g, attended, blk + "attn_output", c.embeddingLength());
            x = g.add(blk + "attn_residual", x, norm(g, c, projected, blk + "post_attention_norm"));

            normed = norm(g, c, x, blk + "ffn_norm");
            Value gate = projection(g, normed, blk + "ffn_gate", c.feedForwardLength()); // [T, F]
            Value up = projection(g, normed, blk + "ffn_up", c.feedForwardLength()); //    [T, F]
            Value hidden = g.multiply(blk + "ffn_hidden", g.activate(blk + "ffn_act", gate, Activation.GELU_TANH), up);
            Value down = projection(g, hidden, blk + "ffn_down", c.embeddingLength());
            x = g.add(blk + "ffn_residual", x, norm(g, c, down, blk + "post_ffw_norm"));
        }
        x = norm(g, c, g.selectRows("selected", x), "output_norm"); //                     [L, E]
        Weight head = source.has("output.weight")
                ? new Weight("output.weight", c.embeddingLength(), c.vocabularySize())
                : embedding;
        return g.build(g.linear("logits", x, head, Optional.empty())); //                  [L, nVocab]
    }

    private static RopeParams rope(ModelConfig c, float base, float scale) {
        return RopeParams.builder(c.keyLength(), Pairing.HALF_SPLIT, base).ropeDim(c.ropeDim()).freqScale(scale).build();
    }

    private static Value attention(
            GraphBuilder g, ModelConfig c, String name, Value q, Value k, Value v, int layer, int window) {
        int scaledBy = c.blockCount() == LAYERS_OF_27B ? c.embeddingLength() / c.headCount() : c.keyLength();
        float scale = (float) (1 / Math.sqrt(scaledBy));
        Value out = g.value(name, c.headCount() * c.valueLength());
        g.add(new CoreOp.Attention(q, k, v, layer, AttentionParams.builder(c.headCount(), c.headCountKv(), scale).slidingWindow(window).build(), out));
        return out;
    }

    private static Value norm(GraphBuilder g, ModelConfig c, Value x, String name) {
        return g.rmsNorm(name, x, Weight.vector(name + ".weight", x.width()), c.rmsEps());
    }

    private static Value headNorm(GraphBuilder g, ModelConfig c, Value x, String name) {
        return g.rmsNorm(name, x, Weight.vector(name + ".weight", c.keyLength()), c.rmsEps());
    }

    private static Value projection(GraphBuilder g, Value x, String name, int rows) {
        return g.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }

    /// There are no soft caps: a file that asks for one is not what this class
    /// builds.
    private static void refuseSoftCaps(GgufMetadata metadata) {
        for (String key : new String[] {"sandwich.attn_logit_softcapping", "sandwich.final_logit_softcapping"}) {
            if (metadata.number(key).orElse(0) != 0) {
                throw new UnsupportedModelException(
                        ErrorCode.MODEL_ARCHITECTURE,
                        "Metadata key " + key + " in " + metadata.source() + " asks for a soft cap of "
                                + metadata.number(key).getAsDouble()
                                + ", which the sandwich bundle does not implement. Use another conversion of the model.");
            }
        }
    }
}
