package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.tools.gguf.SynthTensors.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The tensors and keys of Nemotron 3 models, each of whose layers is a Mamba-2 layer, attention, or experts of two
/// matrices beside a shared one.
final class NemotronTensors {
    private static final String HEADS_KV = "attention.head_count_kv";
    private static final String WIDTHS = "feed_forward_length";
    private static final String SHARED = "expert_shared_feed_forward_length";
    private static final String INNER = "ssm.inner_size";
    private static final String STATE = "ssm.state_size";
    private static final String GROUPS = "ssm.group_count";
    private static final String RANK = "ssm.time_step_rank";
    private static final String TAPS = "ssm.conv_kernel";

    private NemotronTensors() {}

    /// {@return the keys that a shape needs}
    ///
    /// @param layers a letter a layer: M for Mamba-2, `*` for attention, E for experts
    /// @param headsKv key heads of a layer with attention
    /// @param width elements of an expert
    /// @param shared elements of the shared expert
    static Map<String, GgufValue> keys(String layers, int headsKv, int width, int shared) {
        long[] heads = new long[layers.length()];
        long[] widths = new long[layers.length()];
        for (int layer = 0; layer < heads.length; layer++) {
            heads[layer] = layers.charAt(layer) == '*' ? headsKv : 0;
            widths[layer] = layers.charAt(layer) == 'E' ? width : 0;
        }
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put(HEADS_KV, GgufValue.ofInt32Array(heads));
        keys.put(WIDTHS, GgufValue.ofInt32Array(widths));
        keys.put(SHARED, GgufValue.ofUint32(shared));
        keys.put("expert_gating_func", GgufValue.ofUint32(2));
        keys.put("expert_weights_norm", GgufValue.of(true));
        keys.put("expert_weights_scale", GgufValue.of(2.5f));
        return keys;
    }

    /// {@return the keys of the Mamba-2 layers}
    ///
    /// @param heads how many
    /// @param headLength elements of one
    /// @param groups of heads that share what is written to the state and read from it
    /// @param state elements of a channel's state
    static Map<String, GgufValue> mambaKeys(int heads, int headLength, int groups, int state) {
        return Map.of(
                INNER, GgufValue.ofUint32(heads * headLength),
                STATE, GgufValue.ofUint32(state),
                GROUPS, GgufValue.ofUint32(groups),
                RANK, GgufValue.ofUint32(heads),
                TAPS, GgufValue.ofUint32(4));
    }

    /// {@return the tensors beside the embeddings and the last norm}
    static List<Tensor> of(SynthShape shape) {
        TensorList all = new TensorList();
        long e = shape.embedding();
        long[] headsKv = (long[]) shape.keys().get(HEADS_KV).value();
        long[] widths = (long[]) shape.keys().get(WIDTHS).value();
        for (int layer = 0; layer < shape.layers(); layer++) {
            String blk = "blk." + layer + ".";
            all.add(blk + "attn_norm.weight", e);
            if (headsKv[layer] > 0) {
                all.attention(blk, e, shape.queryLength(), headsKv[layer] * shape.headLength());
            } else if (widths[layer] > 0) {
                all.expertsWithoutGate(blk, shape);
                all.add(blk + "exp_probs_b.bias", shape.experts());
                all.add(blk + "ffn_up_shexp.weight", e, TensorList.number(shape, SHARED));
                all.add(blk + "ffn_down_shexp.weight", TensorList.number(shape, SHARED), e);
            } else {
                mamba(all, blk, shape);
            }
        }
        return all.tensors();
    }

    private static void mamba(TensorList all, String blk, SynthShape shape) {
        long e = shape.embedding();
        long inner = TensorList.number(shape, INNER);
        long groups = TensorList.number(shape, GROUPS);
        long heads = TensorList.number(shape, RANK);
        long convolved = inner + 2 * groups * TensorList.number(shape, STATE);
        all.add(blk + "ssm_in.weight", e, inner + convolved + heads);
        all.add(blk + "ssm_conv1d.weight", TensorList.number(shape, TAPS), convolved);
        all.add(blk + "ssm_conv1d.bias", convolved);
        all.add(blk + "ssm_dt.bias", heads);
        all.add(blk + "ssm_a", 1, heads);
        all.add(blk + "ssm_d", 1, heads);
        all.add(blk + "ssm_norm.weight", inner / groups, groups);
        all.add(blk + "ssm_out.weight", inner, e);
    }
}
