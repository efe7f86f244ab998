package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
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
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import org.osgi.service.component.annotations.Component;

/// The `gemma2` architecture.
///
/// A decoder with norms before and after attention and the GELU feed-forward layer, soft caps on scores and
/// logits, rotation of half-split pairs; every other layer, from the first one on, sees a window. The embedding
/// is the output matrix, too.
@Component(service = ModelArchitecture.class, property = "model.architecture=gemma2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Gemma2Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final float DEFAULT_SCORE_CAP = 50;
    private static final float DEFAULT_LOGIT_CAP = 30;
    private static final int DEFAULT_WINDOW = 4096;
    private static final int LAYERS_OF_27B = 46;

    @Override
    public String id() {
        return "gemma2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        ModelConfig c = d.config();
        RopeParams rope = RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build();
        int window = keys.integerOr("attention.sliding_window", DEFAULT_WINDOW, 0, GemmaBlocks.MAX_WINDOW);
        float scoreCap = GemmaBlocks.cap(keys, "attn_logit_softcapping", DEFAULT_SCORE_CAP);

        Value x = GemmaBlocks.embedding(d); //                                                        [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            AttentionParams params = GemmaBlocks.params(d, "blk." + layer + ".", LAYERS_OF_27B)
                    .softCap(scoreCap)
                    .slidingWindow(layer % 2 == 0 ? window : 0)
                    .build();
            x = GemmaBlocks.layer(d, x, layer, params, rope); //                                      [T, E]
        }
        float logitCap = GemmaBlocks.cap(keys, "final_logit_softcapping", DEFAULT_LOGIT_CAP);
        return d.graph().build(GemmaBlocks.logits(d, x, logitCap)); //                                [L, nVocab]
    }
}
