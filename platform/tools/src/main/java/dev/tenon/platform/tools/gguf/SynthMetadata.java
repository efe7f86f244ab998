package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufValue;
import java.util.Map;

/// What the file of a model says: the usual keys of decoders, a made-up tokenizer, and the shape's further keys.
final class SynthMetadata {
    private SynthMetadata() {}

    /// {@return the metadata without that of the weights' formats}
    static Map<String, GgufValue> of(SynthShape shape) {
        String arch = shape.architecture() + ".";
        boolean layerNorm = shape.keys().containsKey("attention.layer_norm_epsilon");
        SynthKeys keys = new SynthKeys()
                .put("general.architecture", shape.architecture())
                .put("general.type", "model")
                .put("general.name", shape.name() + " with random weights")
                .put(arch + "block_count", shape.layers())
                .put(arch + "context_length", shape.context())
                .put(arch + "embedding_length", shape.embedding())
                .put(arch + "feed_forward_length", shape.feedForward())
                .put(arch + "attention.head_count", shape.heads())
                .put(arch + "attention.head_count_kv", shape.headsKv())
                .put(arch + "attention.key_length", shape.headLength())
                .put(arch + "attention.value_length", shape.headLength())
                .put(arch + "attention.layer_norm_" + (layerNorm ? "epsilon" : "rms_epsilon"), shape.normEpsilon())
                .put(arch + "rope.freq_base", shape.ropeFreqBase())
                .put(arch + "rope.dimension_count", shape.headLength())
                .put(arch + "vocab_size", shape.vocabulary());
        if (shape.experts() > 0) {
            keys.put(arch + "expert_count", shape.experts())
                    .put(arch + "expert_used_count", shape.expertsUsed())
                    .put(arch + "expert_feed_forward_length", shape.feedForward());
        }
        Map<String, GgufValue> all = keys.map();
        SynthVocabulary.put(all, shape.vocabulary());
        shape.keys().forEach((key, value) -> all.put(key.startsWith("tokenizer.") ? key : arch + key, value));
        return all;
    }
}
