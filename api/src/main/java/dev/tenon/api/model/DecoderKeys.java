package dev.tenon.api.model;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;

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

    static ModelConfig read(ModelSource source, float defaultFreqBase) {
        GgufMetadata meta = source.metadata();
        String arch = meta.requiredString("general.architecture");
        int blocks = meta.requiredInteger(arch + ".block_count", 1, MAX_BLOCKS);
        int context = meta.requiredInteger(arch + ".context_length", 1, Integer.MAX_VALUE);
        int embedding = meta.requiredInteger(arch + ".embedding_length", 1, MAX_WIDTH);
        int feedForward = meta.requiredInteger(arch + ".feed_forward_length", 1, MAX_WIDTH);
        int heads = meta.requiredInteger(arch + ".attention.head_count", 1, embedding);
        int headsKv = meta.has(arch + ".attention.head_count_kv")
                ? meta.requiredInteger(arch + ".attention.head_count_kv", 1, heads)
                : heads;
        if (heads % headsKv != 0) {
            throw impossible(
                    meta, arch + ".attention.head_count", heads, "a multiple of head_count_kv, which is " + headsKv);
        }
        boolean ownLength = meta.has(arch + ".attention.key_length");
        if (!ownLength && embedding % heads != 0) {
            throw impossible(meta, arch + ".attention.head_count", heads, "a divisor of " + embedding);
        }
        int keyLength =
                ownLength ? meta.requiredInteger(arch + ".attention.key_length", 1, MAX_WIDTH) : embedding / heads;
        int valueLength = meta.has(arch + ".attention.value_length")
                ? meta.requiredInteger(arch + ".attention.value_length", 1, MAX_WIDTH)
                : keyLength;
        if ((long) heads * Math.max(keyLength, valueLength) > MAX_WIDTH) {
            throw impossible(
                    meta,
                    arch + ".attention.key_length",
                    keyLength,
                    "heads that are " + MAX_WIDTH + " wide in all at most");
        }
        String epsKey = arch + ".attention.layer_norm_rms_epsilon";
        float eps = (float) meta.requiredNumber(epsKey);
        if (!(eps >= 0 && eps < 1)) {
            throw impossible(meta, epsKey, eps, "at least 0 and less than 1");
        }
        int ropeDim = meta.integer(arch + ".rope.dimension_count").orElse(keyLength);
        if (ropeDim < 2 || ropeDim > keyLength || ropeDim % 2 != 0) {
            throw impossible(meta, arch + ".rope.dimension_count", ropeDim, "an even number, 2 to " + keyLength);
        }
        TensorInfo table = source.tensor("token_embd.weight")
                .orElseThrow(() -> new ModelFormatException(
                        ErrorCode.MODEL_TENSOR_MISSING,
                        "Tensor token_embd.weight is missing in " + meta.source() + ". Download the file again."));
        checkLayers(source, arch + ".block_count", blocks);
        if (table.rows() > Integer.MAX_VALUE) {
            throw impossible(meta, "rows of token_embd.weight", table.rows(), "at most 2147483647");
        }
        return ModelConfig.builder(arch)
                .name(meta.string("general.name").orElse(arch))
                .contextLength(context)
                .embeddingLength(embedding)
                .blockCount(blocks)
                .headCount(heads)
                .headCountKv(headsKv)
                .keyLength(keyLength)
                .valueLength(valueLength)
                .feedForwardLength(feedForward)
                .vocabularySize((int) table.rows())
                .rmsEps(eps)
                .ropeDim(ropeDim)
                .ropeFreqBase((float) within(
                        meta,
                        arch + ".rope.freq_base",
                        meta.number(arch + ".rope.freq_base").orElse(defaultFreqBase),
                        MIN_FREQ_BASE,
                        MAX_FREQ_BASE))
                .ropeFreqScale(ropeScale(meta, arch))
                .build();
    }

    /// Refuses a mixture of experts.
    static void refuseExperts(GgufMetadata meta) {
        String arch = meta.requiredString("general.architecture");
        if (meta.integer(arch + ".expert_count").orElse(0) > 0) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    "Metadata key " + arch + ".expert_count in " + meta.source()
                            + " asks for a mixture of experts, which the " + arch + " bundle does not implement");
        }
    }

    private static float ropeScale(GgufMetadata meta, String arch) {
        String type = meta.string(arch + ".rope.scaling.type").orElse("none");
        return switch (type) {
            case "none" -> 1;
            case "linear" -> {
                String key = arch + ".rope.scaling.factor";
                yield (float) (1 / within(meta, key, meta.requiredNumber(key), MIN_ROPE_FACTOR, MAX_ROPE_FACTOR));
            }
            default ->
                throw new UnsupportedModelException(
                        ErrorCode.MODEL_ARCHITECTURE,
                        "Metadata key " + arch + ".rope.scaling.type in " + meta.source() + " is " + type
                                + "; implemented are none and linear");
        };
    }

    /// Checks that no tensor belongs to a layer that the model does not have.
    private static void checkLayers(ModelSource source, String key, int blocks) {
        for (String name : source.tensors().keySet()) {
            int end = name.indexOf('.', LAYER_PREFIX.length());
            if (!name.startsWith(LAYER_PREFIX) || end < 0) {
                continue;
            }
            String layer = name.substring(LAYER_PREFIX.length(), end);
            boolean isNumber = !layer.isEmpty() && layer.chars().allMatch(c -> c >= '0' && c <= '9');
            // Nine digits fit an int; more are too many layers, whatever they say.
            if (isNumber && (layer.length() > 9 || Integer.parseInt(layer) >= blocks)) {
                throw impossible(source.metadata(), key, blocks, "more than " + layer + ", since there is " + name);
            }
        }
    }

    /// {@return a number that lies in a range, which NaN does not}
    private static double within(GgufMetadata meta, String key, double found, double min, double max) {
        if (found >= min && found <= max) {
            return found;
        }
        throw impossible(meta, key, found, min + " to " + max);
    }

    private static ModelFormatException impossible(GgufMetadata meta, String key, Number found, String expected) {
        return new ModelFormatException(
                ErrorCode.MODEL_KEY_VALUE,
                key + " in " + meta.source() + " is " + found + "; expected " + expected
                        + ". The file is broken: download it again.");
    }
}
