package dev.tenon.models.dense;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
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
import dev.tenon.api.model.blocks.DecoderBlocks.Norm;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `stablelm` architecture: StableLM 3B, StableLM 2 and their like.
///
/// A decoder with layer norms and a SwiGLU feed-forward layer; of each head a part is rotated, in half-split
/// pairs. The 12B model, which norms queries and keys with weights of their own for each head, is refused.
@Component(service = ModelArchitecture.class, property = "model.architecture=stablelm")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class StableLmArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final String HEAD_NORM = "blk.0.attn_q_norm.weight";

    @Override
    public String id() {
        return "stablelm";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        if (source.has(HEAD_NORM)) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    source.metadata().source() + " has the tensor " + HEAD_NORM
                            + ", norms of queries and keys; implemented: models without, such as 1.6B and 3B.");
        }
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config).norms(Norm.LAYER), rope));
    }

    private static Graph graph(DecoderBlocks d, RopeParams rope) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.norm(blk + "attn_norm", x);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), Optional.of(rope));
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.norm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
