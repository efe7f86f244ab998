package dev.tenon.models.granite;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;

/// The four factors of the Granite models: on embeddings, on what layers add, on scores, and below logits.
final class GraniteBlocks {
    private static final double MAX_SCALE = 1e6;
    private static final double MIN_SCALE = 1e-6;

    private static final int MAX_WIDTH = 1 << 24;

    private final ModelKeys keys;
    private final DecoderBlocks d;
    private final float embeddingScale;
    private final float residualScale;
    private final float attentionScale;
    private final float logitScale;

    GraniteBlocks(ModelSource source, ModelConfig config) {
        keys = ModelKeys.of(source);
        d = new DecoderBlocks(source, config).always("ssm_norm.weight");
        embeddingScale = keys.numberOr("embedding_scale", 1, MIN_SCALE, MAX_SCALE);
        residualScale = keys.numberOr("residual_scale", 1, MIN_SCALE, MAX_SCALE);
        logitScale = keys.numberOr("logit_scale", 1, MIN_SCALE, MAX_SCALE);
        float usual = (float) (1 / Math.sqrt(config.keyLength()));
        attentionScale = keys.numberOr("attention.scale", usual, MIN_SCALE, MAX_SCALE);
    }

    DecoderBlocks decoder() {
        return d;
    }

    /// {@return the width of the expert that every token uses; 0 for none}
    static int sharedWidth(ModelKeys keys) {
        return keys.integerOr("expert_shared_feed_forward_length", 0, 0, MAX_WIDTH);
    }

    /// {@return the rotation, of neighbouring pairs; none where the file says that positions are not rotated}
    Optional<RopeParams> rope() {
        return keys.flag("rope.scaling.finetuned", true)
                ? Optional.of(
                        RopeKeys.read(keys, d.config(), Pairing.INTERLEAVED).build())
                : Optional.empty();
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
