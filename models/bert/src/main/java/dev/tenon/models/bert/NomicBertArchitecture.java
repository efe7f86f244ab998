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

/// The `nomic-bert` architecture: nomic-embed-text (Nussbaum et al. 2024).
///
/// BERT without vectors of positions and without biases: one matrix for queries, keys and values, rotation of
/// half-split pairs, a SwiGLU feed-forward layer.
@Component(service = ModelArchitecture.class, property = "model.architecture=nomic-bert")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class NomicBertArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 1000;

    @Override
    public String id() {
        return "nomic-bert";
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
                        (blk, layer, x) -> b.gated(blk, "", x, config.feedForwardLength(), Activation.SILU)));
    }
}
