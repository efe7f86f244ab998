package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.StateOp.KeyHeads;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `qwen35` architecture: the dense Qwen 3.5 models, text only.
///
/// Most layers have a gated delta rule over convolved queries, keys and values, every fourth attention whose
/// result is gated, with QK-norm and a rotation of a part of each head. The feed-forward layer is SwiGLU.
/// Value head `h` uses key head `h mod keyHeads`.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen35")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen35Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000_000;

    @Override
    public String id() {
        return "qwen35";
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
        return ModelConfig.read(source, DEFAULT_FREQ_BASE);
    }

    private static GatedDeltaGraph graph(ModelSource source, ModelConfig config) {
        return new GatedDeltaGraph(source, config, KeyHeads.CYCLIC, Optional.empty());
    }

    /// Draft blocks are the head, which the logits do not need.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
