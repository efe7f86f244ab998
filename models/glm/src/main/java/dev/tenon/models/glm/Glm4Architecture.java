package dev.tenon.models.glm;

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
import org.osgi.service.component.annotations.Component;

/// The `glm4` architecture: GLM-4-0414 and GLM-Z1.
///
/// A decoder with RMS norms before and after attention and the SwiGLU feed-forward layer, whose gate and up are
/// rows of one matrix; of each head a part is rotated, in neighbouring pairs. Models that see pictures rotate
/// sections of a head, and are refused.
@Component(service = ModelArchitecture.class, property = "model.architecture=glm4")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Glm4Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final String SECTIONS = "rope.dimension_sections";

    @Override
    public String id() {
        return "glm4";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        // Models that read pictures, too, have other pairs.
        Pairing pairing = keys.has(SECTIONS) ? Pairing.HALF_SPLIT : Pairing.INTERLEAVED;
        RopeParams rope = RopeKeys.alongAxes(keys, RopeKeys.read(keys, config, pairing), config.ropeDim() / 2, false)
                .build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), rope));
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }

    private static Graph graph(DecoderBlocks d, RopeParams rope) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), Optional.of(rope));
            normed = d.rmsNorm(blk + "post_attention_norm", attended);
            x = d.graph().add(blk + "attn_residual", x, normed); //                                   [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU);
            normed = d.rmsNorm(blk + "post_ffw_norm", forward);
            x = d.graph().add(blk + "ffn_residual", x, normed); //                                    [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
