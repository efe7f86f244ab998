package dev.tenon.models.gpt.oss;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.ExpertOp.Router;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;
/// The `gpt-oss` architecture: gpt-oss 20b and 120b.
///
/// All projections have biases. Every other layer, from the first on, attends in a window; each head has a sink,
/// a score without a value. Half-split pairs are rotated with YaRN. Experts are weighed by the softmax over the
/// chosen ones, and their gate is clamped.

@Component(service = ModelArchitecture.class, property = "model.architecture=gpt-oss")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class GptOssArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 150_000;
    private static final float SIGMOID_SLOPE = 1.702f;
    private static final float GATE_LIMIT = 7;

    @Override
    public String id() {
        return "gpt-oss";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTMAX, true);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        int window = keys.integer("attention.sliding_window", 1, Integer.MAX_VALUE);
        DecoderBlocks decoder = new DecoderBlocks(source, config)
                .always("attn_q.bias", "attn_k.bias", "attn_v.bias", "attn_output.bias", "attn_sinks.weight")
                .always("ffn_gate_inp.bias", "ffn_gate_exps.bias", "ffn_up_exps.bias", "ffn_down_exps.bias");
        return new ModelDefinition(config, graph(decoder, experts, rope, window));
    }

    private static Graph graph(DecoderBlocks d, ExpertShape experts, RopeParams rope, int window) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            AttentionParams params = d.attentionParams(blk)
                    .slidingWindow(layer % 2 == 0 ? window : 0)
                    .build();
            Value attended = d.attention(blk, normed, layer, params, Optional.of(rope));
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "post_attention_norm", x);
            Router router = d.router(blk, normed, experts);
            Value mixed = d.experts(
                    blk,
                    normed,
                    router,
                    experts,
                    (gate, up) -> d.graph().swigluOai(blk + "ffn_hidden_exps", gate, up, SIGMOID_SLOPE, GATE_LIMIT));
            x = d.graph().add(blk + "ffn_residual", x, mixed); //                                     [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
