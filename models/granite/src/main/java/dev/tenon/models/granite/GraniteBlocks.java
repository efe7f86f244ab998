package dev.tenon.models.granite;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;

/// The four factors of the Granite models: on embeddings, on what layers add, on scores, and below logits.
final class GraniteBlocks {
    private static final double MAX_SCALE = 1e6;
    private static final double MIN_SCALE = 1e-6;

    private final DecoderBlocks d;
    private final float embeddingScale;
    private final float residualScale;
    private final float attentionScale;
    private final float logitScale;

    GraniteBlocks(ModelSource source, ModelConfig config) {
        ModelKeys keys = ModelKeys.of(source);
        d = new DecoderBlocks(source, config);
        embeddingScale = keys.numberOr("embedding_scale", 1, MIN_SCALE, MAX_SCALE);
        residualScale = keys.numberOr("residual_scale", 1, MIN_SCALE, MAX_SCALE);
        logitScale = keys.numberOr("logit_scale", 1, MIN_SCALE, MAX_SCALE);
        float usual = (float) (1 / Math.sqrt(config.keyLength()));
        attentionScale = keys.numberOr("attention.scale", usual, MIN_SCALE, MAX_SCALE);
    }

    DecoderBlocks decoder() {
        return d;
    }

    Value embedding() {
        return d.graph().scale("embd_scaled", d.embedding(), embeddingScale);
    }

    /// {@return the sum of the residual stream and the scaled result of a part of a layer}
    Value add(String name, Value x, Value part) {
        return d.graph().add(name, x, d.graph().scale(name + "_scaled", part, residualScale));
    }

    AttentionParams attention(int headsKv) {
        return AttentionParams.builder(d.config().headCount(), headsKv, attentionScale)
                .build();
    }

    Graph build(Value x) {
        // Divided before the matrix, which is the same: the rows are shorter there.
        return d.graph().build(d.logits(d.graph().scale("hidden_scaled", d.hidden(x), 1 / logitScale)));
    }
}
