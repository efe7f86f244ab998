package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.tools.gguf.SynthTensors.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The tensors and keys of models whose first layers are dense and whose others have a shared expert beside the chosen
/// ones: those of DeepSeek, with latent attention, and of GLM.
final class SharedExpertTensors {
    private static final String DENSE = "leading_dense_block_count";
    private static final String WIDTH = "feed_forward_length";
    private static final String SHARED = "expert_shared_count";
    private static final String LATENT = "attention.kv_lora_rank";
    private static final String TURNED = "rope.dimension_count";
    private static final String KEY = "attention.key_length_mla";
    private static final String VALUE = "attention.value_length_mla";

    private SharedExpertTensors() {}

    /// {@return the keys of the feed-forward layers}
    ///
    /// @param dense layers without experts, the first ones
    /// @param width elements of their feed-forward layer
    /// @param shared how many experts as wide as the others serve every token
    static Map<String, GgufValue> keys(int dense, int width, int shared) {
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put(DENSE, GgufValue.ofUint32(dense));
        keys.put(WIDTH, GgufValue.ofUint32(width));
        keys.put(SHARED, GgufValue.ofUint32(shared));
        return keys;
    }

    /// {@return the keys of latent attention without compressed queries}
    ///
    /// @param latent elements that keys and values are projections of
    /// @param plain elements of a head's query that are not rotated
    /// @param turned elements that are
    /// @param value elements of a head's value
    static Map<String, GgufValue> latentKeys(int latent, int plain, int turned, int value) {
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put(LATENT, GgufValue.ofUint32(latent));
        keys.put("attention.key_length", GgufValue.ofUint32(latent + turned));
        keys.put("attention.value_length", GgufValue.ofUint32(latent));
        keys.put(KEY, GgufValue.ofUint32(plain + turned));
        keys.put(VALUE, GgufValue.ofUint32(value));
        keys.put(TURNED, GgufValue.ofUint32(turned));
        return keys;
    }

    /// {@return the tensors beside the embeddings and the last norm}
    static List<Tensor> of(SynthShape shape) {
        TensorList all = new TensorList();
        boolean glm = shape.architecture().equals("glm4moe");
        long e = shape.embedding();
        for (int layer = 0; layer < shape.layers(); layer++) {
            String blk = "blk." + layer + ".";
            all.add(blk + "attn_norm.weight", e);
            if (glm) {
                all.attention(blk, e, shape.queryLength(), shape.keyLength());
                all.add(blk + "attn_q.bias", shape.queryLength());
                all.add(blk + "attn_k.bias", shape.keyLength());
                all.add(blk + "attn_v.bias", shape.keyLength());
            } else {
                latentAttention(all, blk, shape);
            }
            all.add(blk + (glm ? "post_attention_norm.weight" : "ffn_norm.weight"), e);
            if (layer < TensorList.number(shape, DENSE)) {
                all.gated(blk, "", e, TensorList.number(shape, WIDTH));
            } else {
                all.experts(blk, shape);
                all.gated(blk, "_shexp", e, TensorList.number(shape, SHARED) * shape.feedForward());
                if (glm) {
                    all.add(blk + "exp_probs_b.bias", shape.experts());
                }
            }
        }
        return all.tensors();
    }

    private static void latentAttention(TensorList all, String blk, SynthShape shape) {
        long e = shape.embedding();
        long heads = shape.heads();
        long latent = TensorList.number(shape, LATENT);
        long turned = TensorList.number(shape, TURNED);
        long key = TensorList.number(shape, KEY);
        long value = TensorList.number(shape, VALUE);
        all.add(blk + "attn_q.weight", e, heads * key);
        all.add(blk + "attn_kv_a_mqa.weight", e, latent + turned);
        all.add(blk + "attn_kv_a_norm.weight", latent);
        all.add(blk + "attn_k_b.weight", key - turned, latent, heads);
        all.add(blk + "attn_v_b.weight", latent, value, heads);
        all.add(blk + "attn_output.weight", heads * value, e);
    }
}
