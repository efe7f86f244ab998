package dev.tenon.models.bert;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `nomic-bert-moe` architecture: nomic-embed-text v2 (Nussbaum and Duderstadt 2025).
///
/// BERT whose half-split pairs are rotated in the place of vectors of positions. In every `moe_every_n_layers`-th
/// layer, from the second one on, experts take the place of the feed-forward layer, chosen by a softmax that is not
/// normalised.
@Component(service = ModelArchitecture.class, property = "model.architecture=nomic-bert-moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class NomicBertMoeArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;

    @Override
    public String id() {
        return "nomic-bert-moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = Encoders.keys(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        int every = keys.integer("moe_every_n_layers", 2, Integer.MAX_VALUE);
        ExpertShape experts = ExpertShape.read(keys, "feed_forward_length", Gating.SOFTMAX, false);
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
                        (blk, layer, x) -> layer % every == 1
                                ? ExpertBlocks.ungated(b, blk, x, experts, Activation.GELU_TANH)
                                : b.feedForward(blk, "", x, config.feedForwardLength(), Activation.GELU_TANH)));
    }
}
