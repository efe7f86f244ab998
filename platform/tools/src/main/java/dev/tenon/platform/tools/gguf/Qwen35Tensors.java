package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.tools.gguf.SynthTensors.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The tensors and keys of Qwen 3.5 models: every fourth layer has attention with a gate, the others a gated delta
/// rule;
/// one of them has experts, beside a shared one with a gate.
final class Qwen35Tensors {
    private static final String INTERVAL = "full_attention_interval";
    private static final String STATE = "ssm.state_size";
    private static final String KEY_HEADS = "ssm.group_count";
    private static final String VALUE_HEADS = "ssm.time_step_rank";
    private static final String TAPS = "ssm.conv_kernel";
    private static final String SHARED = "expert_shared_feed_forward_length";

    private Qwen35Tensors() {}

    /// {@return the keys that a shape needs}
    ///
    /// @param valueHeads heads of the delta rule
    static Map<String, GgufValue> keys(int valueHeads) {
        int state = 128;
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put(INTERVAL, GgufValue.ofUint32(4));
        keys.put(STATE, GgufValue.ofUint32(state));
        keys.put(KEY_HEADS, GgufValue.ofUint32(16));
        keys.put(VALUE_HEADS, GgufValue.ofUint32(valueHeads));
        keys.put("ssm.inner_size", GgufValue.ofUint32(valueHeads * state));
        keys.put(TAPS, GgufValue.ofUint32(4));
        keys.put("rope.dimension_count", GgufValue.ofUint32(64));
        keys.put("rope.dimension_sections", GgufValue.ofInt32Array(new long[] {11, 11, 10, 0}));
        return keys;
    }

    /// {@return the keys of a shape with experts}
    ///
    /// @param shared elements of the shared expert
    static Map<String, GgufValue> expertKeys(int shared) {
        return Map.of(SHARED, GgufValue.ofUint32(shared));
    }

    /// {@return the tensors beside the embedding, the last norm and the output}
    ///
    /// @param shape hyperparameters
    static List<Tensor> of(SynthShape shape) {
        TensorList all = new TensorList();
        long e = shape.embedding();
        long interval = TensorList.number(shape, INTERVAL);
        for (int layer = 0; layer < shape.layers(); layer++) {
            String blk = "blk." + layer + ".";
            all.add(blk + "attn_norm.weight", e);
            all.add(blk + "post_attention_norm.weight", e);
            if ((layer + 1) % interval == 0) {
                attention(all, blk, shape);
            } else {
                deltaRule(all, blk, shape);
            }
            if (shape.experts() > 0) {
                all.experts(blk, shape);
                all.gated(blk, "_shexp", e, TensorList.number(shape, SHARED));
                all.add(blk + "ffn_gate_inp_shexp.weight", e);
            } else {
                all.gated(blk, "", e, shape.feedForward());
            }
        }
        return all.tensors();
    }

    /// The projection of queries gives each head its gate, too.
    private static void attention(TensorList all, String blk, SynthShape shape) {
        long e = shape.embedding();
        all.add(blk + "attn_q.weight", e, 2L * shape.queryLength());
        all.add(blk + "attn_k.weight", e, shape.keyLength());
        all.add(blk + "attn_v.weight", e, shape.keyLength());
        all.add(blk + "attn_output.weight", shape.queryLength(), e);
        all.add(blk + "attn_q_norm.weight", shape.headLength());
        all.add(blk + "attn_k_norm.weight", shape.headLength());
    }

    private static void deltaRule(TensorList all, String blk, SynthShape shape) {
        long e = shape.embedding();
        long state = TensorList.number(shape, STATE);
        long heads = TensorList.number(shape, VALUE_HEADS);
        long inner = heads * state;
        long convolved = 2 * TensorList.number(shape, KEY_HEADS) * state + inner;
        all.add(blk + "attn_qkv.weight", e, convolved);
        all.add(blk + "attn_gate.weight", e, inner);
        all.add(blk + "ssm_conv1d.weight", TensorList.number(shape, TAPS), convolved);
        all.add(blk + "ssm_alpha.weight", e, heads);
        all.add(blk + "ssm_beta.weight", e, heads);
        all.add(blk + "ssm_dt.bias", heads);
        all.add(blk + "ssm_a", heads);
        all.add(blk + "ssm_norm.weight", state);
        all.add(blk + "ssm_out.weight", inner, e);
    }
}
