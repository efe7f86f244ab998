package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.StateOp.KeyHeads;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `qwen3next` architecture: Qwen3-Next and Qwen3-Coder-Next.
///
/// As `qwen35moe`, but value head `h` uses key head `h / (valueHeads / keyHeads)`, and one matrix makes decays and
/// strengths.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen3next")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen3NextArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000_000;

    @Override
    public String id() {
        return "qwen3next";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = config(source);
        return new ModelDefinition(config, graph(source, config).build());
    }

    @Override
    public Optional<Graph> head(ModelSource source) {
        return graph(source, config(source)).head();
    }

    private static ModelConfig config(ModelSource source) {
        return ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
    }

    private static GatedDeltaGraph graph(ModelSource source, ModelConfig config) {
        ExpertShape experts =
                ExpertShape.read(ModelKeys.of(source), "expert_feed_forward_length", Gating.SOFTMAX, true);
        return new GatedDeltaGraph(source, config, KeyHeads.BLOCK, Optional.of(experts));
    }

    /// Draft blocks are the head, which the logits do not need.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
