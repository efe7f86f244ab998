package dev.tenon.models.bert;

import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;

/// What these encoders have in common.
final class Encoders {
    /// For models without rotation, where the base does not matter.
    static final float NO_ROTATION = 10_000;

    private static final String TYPES = "tokenizer.ggml.token_type_count";
    private static final int MAX_TYPES = 1 << 16;

    private Encoders() {}

    /// {@return the keys of an encoder, which has the epsilon of layer norms among them}
    ///
    /// @throws dev.tenon.api.error.UnsupportedModelException (`MODEL-003`) if the file asks for a mask
    static ModelKeys keys(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        if (keys.flag("attention.causal", false)) {
            throw keys.unsupported("attention.causal", true, "false");
        }
        keys.number("attention.layer_norm_epsilon", 0, 1);
        return keys;
    }

    /// {@return the vector of token type 0 for each token, `[T, E]`: texts have no second part here}
    static Value tokenType(DecoderBlocks b, ModelKeys keys) {
        int types =
                keys.source().metadata().has(TYPES) ? keys.source().metadata().requiredInteger(TYPES, 1, MAX_TYPES) : 2;
        Weight table = new Weight("token_types.weight", b.config().embeddingLength(), types);
        return b.graph().repeat("type", table.rows(0, 1));
    }
}
