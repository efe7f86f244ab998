package dev.tenon.models.olmo;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
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
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `olmo2` architecture: OLMo 2 and 3.
///
/// A decoder that norms what attention and the SwiGLU feed-forward layer give, not what they read, and the
/// whole rows of queries and keys before half-split pairs are rotated. Where there is a window (OLMo 3), three
/// of four layers see it and rotate without scaling; the fourth sees all positions, with the file's scaling.
@Component(service = ModelArchitecture.class, property = "model.architecture=olmo2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Olmo2Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10000;
    private static final int FULL = 4;

    @Override
    public String id() {
        return "olmo2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        DecoderBlocks blocks = new DecoderBlocks(source, config).always(QkNorm.ROWS);
        return new ModelDefinition(config, graph(blocks, keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        ModelConfig c = d.config();
        RopeParams scaled = RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build();
        RopeParams plain =
                RopeKeys.plain(keys, c, Pairing.HALF_SPLIT, c.ropeFreqBase()).build();
        int window = keys.integerOr("attention.sliding_window", 0, 0, Integer.MAX_VALUE);

        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            boolean full = window == 0 || layer % FULL == FULL - 1;
            AttentionParams params =
                    d.attentionParams(blk).slidingWindow(full ? 0 : window).build();

            Value attended = d.attention(blk, x, layer, params, Optional.of(full ? scaled : plain));
            Value normed = d.rmsNorm(blk + "post_attention_norm", attended);
            x = d.graph().add(blk + "attn_residual", x, normed); //                                   [T, E]

            Value forward = d.gated(blk, "", x, c.feedForwardLength(), Activation.SILU);
            normed = d.rmsNorm(blk + "post_ffw_norm", forward);
            x = d.graph().add(blk + "ffn_residual", x, normed); //                                    [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
