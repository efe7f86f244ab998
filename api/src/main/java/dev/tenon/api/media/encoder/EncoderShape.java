package dev.tenon.api.media.encoder;

import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;

/// The keys that all encoders have, `clip.vision.*` or `clip.audio.*`. Immutable.
///
/// @param keys of the companion file
/// @param width of a row inside the encoder, `E`
/// @param forward width of the feed-forward layer
/// @param blocks layers
/// @param heads attention heads
/// @param headLength elements of a head
/// @param eps added to variances in norms
public record EncoderShape(ModelKeys keys, int width, int forward, int blocks, int heads, int headLength, float eps) {
    private static final int MOST = 1 << 16;

    /// Reads the keys.
    ///
    /// @param source metadata and tensor descriptions of the companion file
    /// @param kind of encoder, `vision` or `audio`
    /// @return the keys
    /// @throws ModelFormatException (`MODEL-001`, `MODEL-002`) if one is missing or impossible
    public static EncoderShape of(ModelSource source, String kind) {
        ModelKeys keys = ModelKeys.of(source);
        String prefix = kind + ".";
        int width = keys.integer(prefix + "embedding_length", 1, MOST);
        int heads = keys.integer(prefix + "attention.head_count", 1, width);
        int headLength = keys.integerOr(prefix + "attention.head_dim", Math.max(1, width / heads), 1, MOST);
        String keyHeads = prefix + "attention.head_count_kv";
        if (keys.integerOr(keyHeads, heads, 1, MOST) != heads) {
            throw keys.unsupported(keyHeads, "another number than of query heads", "" + heads);
        }
        return new EncoderShape(
                keys,
                width,
                keys.integer(prefix + "feed_forward_length", 1, 1 << 20),
                keys.integer(prefix + "block_count", 1, 4096),
                heads,
                headLength,
                keys.number(prefix + "attention.layer_norm_epsilon", 0, 1));
    }
}
