package dev.tenon.api.media.encoder;

import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.media.Normalisation;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;

/// The keys of encoders of pictures, `clip.vision.*`. Immutable.
///
/// @param keys of the companion file
/// @param width of a row inside the encoder, `E`
/// @param forward width of the feed-forward layer
/// @param blocks layers
/// @param heads attention heads
/// @param headLength elements of a head
/// @param eps added to variances in norms
/// @param patch pixels along a side of a patch
/// @param image pixels along a side of the picture that the encoder was made for
/// @param normalisation of samples
public record VisionKeys(
        ModelKeys keys,
        int width,
        int forward,
        int blocks,
        int heads,
        int headLength,
        float eps,
        int patch,
        int image,
        Normalisation normalisation) {
    private static final int MOST = 1 << 16;

    /// Reads the keys.
    ///
    /// @param source metadata and tensor descriptions of the companion file
    /// @return the keys
    /// @throws ModelFormatException (`MODEL-001`, `MODEL-002`) if one is missing or impossible
    public static VisionKeys of(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        int width = keys.integer("vision.embedding_length", 1, MOST);
        int heads = keys.integer("vision.attention.head_count", 1, width);
        int headLength = keys.integerOr("vision.attention.head_dim", Math.max(1, width / heads), 1, MOST);
        if (keys.integerOr("vision.attention.head_count_kv", heads, 1, MOST) != heads) {
            throw keys.unsupported("vision.attention.head_count_kv", "another number than of query heads", "" + heads);
        }
        int patch = keys.integer("vision.patch_size", 1, 1024);
        return new VisionKeys(
                keys,
                width,
                keys.integer("vision.feed_forward_length", 1, 1 << 20),
                keys.integer("vision.block_count", 1, 4096),
                heads,
                headLength,
                keys.number("vision.attention.layer_norm_epsilon", 0, 1),
                patch,
                keys.integer("vision.image_size", patch, MOST),
                Normalisation.of(threeOf(keys, "vision.image_mean"), threeOf(keys, "vision.image_std")));
    }

    private static float[] threeOf(ModelKeys keys, String key) {
        return keys.numberPerLayer(key, 3, -1e6, 1e6);
    }

    /// {@return an integer that must be there, or a default}
    ///
    /// @param key after `clip.vision.`
    /// @param otherwise the default
    public int integerOr(String key, int otherwise) {
        return keys.integerOr("vision." + key, otherwise, 0, MOST);
    }

    /// Checks that the rows of the encoder are as wide as what reads them.
    ///
    /// @param rows their width
    /// @param text hyperparameters of the model
    /// @param slices how often a row holds the width of the model
    /// @throws ModelFormatException (`MODEL-002`) if not
    public void checkWidth(int rows, ModelConfig text, int slices) {
        if (rows != (long) slices * text.embeddingLength()) {
            throw keys.impossible(
                    "vision.projection_dim",
                    "rows of " + rows + " elements",
                    slices + " times " + text.embeddingLength() + ", which the model " + text.name() + " reads");
        }
    }
}
