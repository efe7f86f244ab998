package dev.tenon.api.model;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.TensorInfo;
import java.util.stream.IntStream;

/// Reads the keys that GGUF defines for decoders.
final class DecoderKeys {
    private static final int MAX_BLOCKS = 4096;
    private static final int MAX_WIDTH = 1 << 24;
    /// With a smaller base the rotation of later pairs is faster than that of the first.
    private static final double MIN_FREQ_BASE = 1;

    private static final double MAX_FREQ_BASE = 1e15;
    private static final double MIN_ROPE_FACTOR = 1e-3;
    private static final double MAX_ROPE_FACTOR = 1e6;
    private static final String LAYER_PREFIX = "blk.";

    private DecoderKeys() {}

    /// The keys of a decoder without experts and with a rotation that is not scaled, or linearly.
    static ModelConfig read(ModelSource source, float defaultFreqBase) {
        ModelKeys keys = ModelKeys.of(source);
        if (keys.integerOr("expert_count", 0, 0, Integer.MAX_VALUE) > 0) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    "Metadata key " + keys.nameOf("expert_count") + " in "
                            + source.metadata().source() + " asks for a mixture of experts, which the "
                            + keys.architecture() + " bundle does not implement");
        }
        return readShape(source, defaultFreqBase).toBuilder()
                .ropeFreqScale(ropeScale(keys))
                .build();
    }

    static ModelConfig readShape(ModelSource source, float defaultFreqBase) {
        ModelKeys keys = ModelKeys.of(source);
        int blocks = keys.integer("block_count", 1, MAX_BLOCKS);
        checkLayers(keys, blocks);
        int embedding = keys.integer("embedding_length", 1, MAX_WIDTH);
        int heads = largest(keys, "attention.head_count", blocks, embedding);
        int headsKv =
                keys.has("attention.head_count_kv") ? largest(keys, "attention.head_count_kv", blocks, heads) : heads;
        if (heads % headsKv != 0) {
            throw keys.impossible("attention.head_count", heads, "a multiple of head_count_kv, which is " + headsKv);
        }
        boolean ownLength = keys.has("attention.key_length");
        if (!ownLength && embedding % heads != 0) {
            throw keys.impossible("attention.head_count", heads, "a divisor of " + embedding);
        }
        int keyLength = keys.integerOr("attention.key_length", embedding / heads, 1, MAX_WIDTH);
        int valueLength = keys.integerOr("attention.value_length", keyLength, 1, MAX_WIDTH);
        if ((long) heads * Math.max(keyLength, valueLength) > MAX_WIDTH) {
            throw keys.impossible(
                    "attention.key_length", keyLength, "heads that are " + MAX_WIDTH + " wide in all at most");
        }
        int ropeDim = keys.integerOr("rope.dimension_count", keyLength, 0, Integer.MAX_VALUE);
        if (ropeDim < 2 || ropeDim > keyLength || ropeDim % 2 != 0) {
            throw keys.impossible("rope.dimension_count", ropeDim, "an even number, 2 to " + keyLength);
        }
        return widths(keys, blocks, embedding)
                .headCount(heads)
                .headCountKv(headsKv)
                .keyLength(keyLength)
                .valueLength(valueLength)
                .feedForwardLength(
                        keys.has("expert_feed_forward_length") && !keys.has("feed_forward_length")
                                ? 0
                                : largest(keys, "feed_forward_length", blocks, MAX_WIDTH))
                .ropeDim(ropeDim)
                .ropeFreqBase(keys.numberOr("rope.freq_base", defaultFreqBase, MIN_FREQ_BASE, MAX_FREQ_BASE))
                .build();
    }

    /// What is left of a decoder without attention.
    static ModelConfig readWithoutAttention(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        int blocks = keys.integer("block_count", 1, MAX_BLOCKS);
        checkLayers(keys, blocks);
        return widths(keys, blocks, keys.integer("embedding_length", 1, MAX_WIDTH))
                .feedForwardLength(keys.integerOr("feed_forward_length", 0, 0, MAX_WIDTH))
                .build();
    }

    private static ModelConfig.Builder widths(ModelKeys keys, int blocks, int embedding) {
        return ModelConfig.builder(keys.architecture())
                .name(keys.source().metadata().string("general.name").orElse(keys.architecture()))
                .contextLength(keys.integer("context_length", 1, Integer.MAX_VALUE))
                .embeddingLength(embedding)
                .blockCount(blocks - keys.integerOr("nextn_predict_layers", 0, 0, blocks - 1))
                .vocabularySize(vocabularySize(keys))
                .rmsEps(epsilon(keys));
    }

    /// The largest of one number or of one for each layer; single layers may have 0.
    private static int largest(ModelKeys keys, String key, int layers, int max) {
        if (!keys.isArray(key)) {
            return keys.integer(key, 1, max);
        }
        int largest = IntStream.of(keys.perLayer(key, layers, 0, max)).max().orElseThrow();
        if (largest == 0) {
            throw keys.impossible(key, "0 for every layer", "1 to " + max + " for some");
        }
        return largest;
    }

    private static float epsilon(ModelKeys keys) {
        String layerNorm = "attention.layer_norm_epsilon";
        String rms = "attention.layer_norm_rms_epsilon";
        if (!keys.has(layerNorm) && !keys.has(rms)) {
            throw keys.missing(rms, layerNorm);
        }
        String key = keys.has(layerNorm) ? layerNorm : rms;
        float eps = keys.number(key, 0, 1);
        if (eps == 1) {
            throw keys.impossible(key, eps, "less than 1");
        }
        return eps;
    }

    private static int vocabularySize(ModelKeys keys) {
        String file = keys.source().metadata().source();
        TensorInfo table = keys.source()
                .tensor("token_embd.weight")
                .orElseThrow(() -> new ModelFormatException(
                        ErrorCode.MODEL_TENSOR_MISSING,
                        "Tensor token_embd.weight is missing in " + file + ". Download the file again."));
        if (table.rows() > Integer.MAX_VALUE) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_KEY_VALUE,
                    "Tensor token_embd.weight in " + file + " has " + table.rows()
                            + " rows; expected at most 2147483647. The file is broken: download it again.");
        }
        return (int) table.rows();
    }

    private static float ropeScale(ModelKeys keys) {
        String type = keys.text("rope.scaling.type", "none");
        return switch (type) {
            case "none" -> 1;
            case "linear" -> 1 / keys.number("rope.scaling.factor", MIN_ROPE_FACTOR, MAX_ROPE_FACTOR);
            default -> throw keys.unsupported("rope.scaling.type", type, "none and linear");
        };
    }

    /// Checks that no tensor belongs to a layer that the model does not have.
    private static void checkLayers(ModelKeys keys, int blocks) {
        for (String name : keys.source().tensors().keySet()) {
            int end = name.indexOf('.', LAYER_PREFIX.length());
            if (!name.startsWith(LAYER_PREFIX) || end < 0) {
                continue;
            }
            String layer = name.substring(LAYER_PREFIX.length(), end);
            boolean isNumber = !layer.isEmpty() && layer.chars().allMatch(c -> c >= '0' && c <= '9');
            // Nine digits fit an int; more are too many layers, whatever they say.
            if (isNumber && (layer.length() > 9 || Integer.parseInt(layer) >= blocks)) {
                throw keys.impossible("block_count", blocks, "more than " + layer + ", since there is " + name);
            }
        }
    }
}
