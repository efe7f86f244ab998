package dev.tenon.models.bert;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `jina-bert-v3` architecture: the third Jina embeddings (Sturua et al. 2024), without their adapters.
///
/// BERT whose half-split pairs are rotated in the place of vectors of positions.
@Component(service = ModelArchitecture.class, property = "model.architecture=jina-bert-v3")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class JinaBertV3Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 20_000;

    @Override
    public String id() {
        return "jina-bert-v3";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = Encoders.keys(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        DecoderBlocks b = new DecoderBlocks(source, config);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        return new ModelDefinition(
                config,
                Encoders.bert(
                        b,
                        keys,
                        Encoders.typed(b, keys),
                        Optional.empty(),
                        Optional.of(rope),
                        (blk, layer, x) ->
                                b.feedForward(blk, "", x, config.feedForwardLength(), Activation.GELU_TANH)));
    }
}
