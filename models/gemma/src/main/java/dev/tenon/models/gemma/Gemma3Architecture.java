package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `gemma3` architecture: the text part of the Gemma 3 models.
///
/// A decoder with norms before and after attention and the GELU feed-forward layer; heads of queries and keys are
/// normed before half-split pairs are rotated. Five layers of six see a window of positions and rotate with
/// a base of their own; every sixth sees everything, with the file's base and scaling.
@Component(service = ModelArchitecture.class, property = "model.architecture=gemma3")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Gemma3Architecture implements ModelArchitecture {
    private static final int LAYERS_OF_27B = 62;

    @Override
    public String id() {
        return "gemma3";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, LayerKinds.DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config).always(QkNorm.HEADS), keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        LayerKinds kinds = LayerKinds.read(keys, d.config(), 0);
        Value x = GemmaBlocks.embedding(d); //                                                        [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            float scoreCap = GemmaBlocks.cap(keys, "attn_logit_softcapping", 0);
            x = GemmaBlocks.layer(
                    d,
                    x,
                    layer,
                    GemmaBlocks.params(d, "blk." + layer + ".", LAYERS_OF_27B)
                            .softCap(scoreCap)
                            .slidingWindow(kinds.window(layer))
                            .spans(keys.source().rowWidth() > 0)
                            .build(),
                    kinds.rope(layer)); //                                                            [T, E]
        }
        float logitCap = GemmaBlocks.cap(keys, "final_logit_softcapping", 0);
        return d.graph().build(GemmaBlocks.logits(d, x, logitCap)); //                                [L, nVocab]
    }
}
