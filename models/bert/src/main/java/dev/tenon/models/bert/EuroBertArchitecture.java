package dev.tenon.models.bert;

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
import dev.tenon.api.model.blocks.EncoderHead;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `eurobert` architecture: EuroBERT (Boizard et al. 2025).
///
/// The usual decoder without a mask: RMS norms before the sums and at the end, rotation of half-split pairs, a SwiGLU
/// feed-forward layer.
@Component(service = ModelArchitecture.class, property = "model.architecture=eurobert")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class EuroBertArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 250_000;

    @Override
    public String id() {
        return "eurobert";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = Encoders.withoutMask(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), keys));
    }

    private static Graph graph(DecoderBlocks b, ModelKeys keys) {
        ModelConfig c = b.config();
        RopeParams rope = RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build();
        Value x = b.embedding(); //                                                              [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            AttentionParams params = b.attentionParams(blk).causal(false).build();

            Value attended = b.attention(blk, b.rmsNorm(blk + "attn_norm", x), layer, params, Optional.of(rope));
            x = b.graph().add(blk + "attn_residual", x, attended);

            Value normed = b.rmsNorm(blk + "ffn_norm", x);
            Value forward = b.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU);
            x = b.graph().add(blk + "ffn_residual", x, forward);
        }
        return EncoderHead.build(b, keys, b.rmsNorm("output_norm", x));
    }
}
