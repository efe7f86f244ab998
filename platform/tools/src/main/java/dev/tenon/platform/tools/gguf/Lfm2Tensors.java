package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.tools.gguf.SynthTensors.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The tensors and keys of LFM2 models: few layers with attention, short convolutions in the others; the larger ones
/// have experts after their first layers.
final class Lfm2Tensors {
    private static final String HEADS_KV = "attention.head_count_kv";
    private static final String DENSE = "leading_dense_block_count";
    private static final int TAPS = 3;

    private Lfm2Tensors() {}

    /// {@return the keys that a shape needs}
    ///
    /// @param layers number of layers
    /// @param attention which of them have attention
    /// @param headsKv key heads of those
    static Map<String, GgufValue> keys(int layers, Set<Integer> attention, int headsKv) {
        long[] heads = new long[layers];
        attention.forEach(layer -> heads[layer] = headsKv);
        return Map.of(HEADS_KV, GgufValue.ofInt32Array(heads), "shortconv.l_cache", GgufValue.ofUint32(TAPS));
    }

    /// {@return the keys of a shape with experts}
    ///
    /// @param dense layers without, the first ones
    /// @param denseWidth elements of their feed-forward layer
    static Map<String, GgufValue> expertKeys(int dense, int denseWidth) {
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put(DENSE, GgufValue.ofUint32(dense));
        keys.put("feed_forward_length", GgufValue.ofUint32(denseWidth));
        keys.put("expert_gating_func", GgufValue.ofUint32(2));
        return keys;
    }

    /// {@return the tensors beside the embedding}
    static List<Tensor> of(SynthShape shape) {
        TensorList all = new TensorList();
        long e = shape.embedding();
        all.add("token_embd_norm.weight", e);
        long[] headsKv = (long[]) shape.keys().get(HEADS_KV).value();
        long dense = shape.experts() == 0 ? shape.layers() : TensorList.number(shape, DENSE);
        for (int layer = 0; layer < shape.layers(); layer++) {
            String blk = "blk." + layer + ".";
            all.add(blk + "attn_norm.weight", e);
            if (headsKv[layer] > 0) {
                all.add(blk + "attn_q_norm.weight", shape.headLength());
                all.add(blk + "attn_k_norm.weight", shape.headLength());
                all.attention(blk, e, shape.queryLength(), headsKv[layer] * shape.headLength());
            } else {
                all.add(blk + "shortconv.in_proj.weight", e, 3 * e);
                all.add(blk + "shortconv.conv.weight", TAPS, e);
                all.add(blk + "shortconv.out_proj.weight", e, e);
            }
            all.add(blk + "ffn_norm.weight", e);
            if (layer < dense) {
                all.gated(
                        blk,
                        "",
                        e,
                        shape.experts() == 0 ? shape.feedForward() : TensorList.number(shape, "feed_forward_length"));
            } else {
                all.experts(blk, shape);
                all.add(blk + "exp_probs_b.bias", shape.experts());
            }
        }
        return all.tensors();
    }
}
