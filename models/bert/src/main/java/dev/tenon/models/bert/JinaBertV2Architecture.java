package dev.tenon.models.bert;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `jina-bert-v2` architecture: the second Jina embeddings (Günther et al. 2023).
///
/// BERT without vectors of positions: scores fall with the distance (ALiBi), and the feed-forward layer has a gate
/// that is a GELU. Models of code, which norm queries and keys, are refused.
@Component(service = ModelArchitecture.class, property = "model.architecture=jina-bert-v2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class JinaBertV2Architecture implements ModelArchitecture {
    private static final String NORM = "blk.0.attn_q_norm.weight";
    private static final float MAX_BIAS = 8;

    @Override
    public String id() {
        return "jina-bert-v2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        if (source.has(NORM)) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    source.metadata().source() + " has the tensor " + NORM
                            + ", norms of queries and keys; implemented: models without, those of texts.");
        }
        ModelKeys keys = Encoders.keys(source);
        ModelConfig config = ModelConfig.readShape(source, Encoders.NO_ROTATION);
        DecoderBlocks b = new DecoderBlocks(source, config);
        ScoreBias bias = ScoreBias.alibi(ScoreBias.slopes(config.headCount(), MAX_BIAS));
        return new ModelDefinition(
                config,
                Encoders.bert(
                        b,
                        keys,
                        Encoders.typed(b, keys),
                        Optional.of(bias),
                        Optional.empty(),
                        (blk, layer, x) -> b.gated(blk, "", x, config.feedForwardLength(), Activation.GELU_TANH)));
    }
}
