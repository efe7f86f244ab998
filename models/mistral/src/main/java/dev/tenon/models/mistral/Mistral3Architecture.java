package dev.tenon.models.mistral;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
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
import java.util.function.UnaryOperator;
import org.osgi.service.component.annotations.Component;

/// The `mistral3` architecture: Ministral 3 and Devstral Small 2. Older models of Mistral are `llama`.
///
/// The decoder of `llama` with a rotation scaled by YaRN, which leaves sines and cosines as they are
/// (`yarn_log_multiplier` 1), and queries that grow with the logarithm of their position beyond the original
/// context: `1 + temperature ln(1 + floor(position / original))`.
@Component(service = ModelArchitecture.class, property = "model.architecture=mistral3")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Mistral3Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10000;
    private static final double MAX_TEMPERATURE = 1e3;

    @Override
    public String id() {
        return "mistral3";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        Optional<RopeParams> rope =
                Optional.of(RopeKeys.read(keys, d.config(), Pairing.INTERLEAVED).build());
        float temperature = keys.numberOr("attention.temperature_scale", 0, 0, MAX_TEMPERATURE);
        int original = temperature == 0 ? 1 : RopeKeys.originalContext(keys);

        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            UnaryOperator<Value> grown =
                    q -> temperature == 0 ? q : d.graph().positionScale(blk + "q_scaled", q, temperature, 0, original);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), rope, grown);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
