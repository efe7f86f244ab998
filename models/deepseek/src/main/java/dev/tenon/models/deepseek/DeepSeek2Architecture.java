package dev.tenon.models.deepseek;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `deepseek2` architecture: DeepSeek V2, V3 and R1, and other models with latent attention.
///
/// Keys and values of all heads are projections of one short vector of a token, its latent, beside a part of the
/// key that all heads share and that alone is rotated, in neighbouring pairs (DeepSeek-AI 2024). They are never
/// computed: each head's projection of the latent to keys is applied to its query, the one to values to what it
/// attended to, so that the cache holds the latent and the rotated part only.
///
/// The first layers are dense. In the others a few experts are chosen, in groups if the file says so, by the
/// softmax or the sigmoid of their logits; shared experts serve every token.
@Component(service = ModelArchitecture.class, property = "model.architecture=deepseek2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class DeepSeek2Architecture implements ModelArchitecture {
    @Override
    public String id() {
        return "deepseek2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return LatentDecoder.define(source, Gating.SOFTMAX, Optional.empty());
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
