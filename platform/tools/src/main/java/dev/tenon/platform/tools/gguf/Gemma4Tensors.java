package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.tools.gguf.SynthTensors.Tensor;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The tensors and keys of the small Gemma 4 models, whose layers differ: heads of two lengths, layers without keys and
/// values, a second table of embeddings.
final class Gemma4Tensors {
    private static final String PATTERN = "attention.sliding_window_pattern";
    private static final String WINDOW_HEAD = "attention.key_length_swa";
    static final String SHARED = "attention.shared_kv_layers";
    private static final String WIDTHS = "feed_forward_length";
    private static final String INPUTS = "embedding_length_per_layer_input";

    private final SynthShape shape;
    private final TensorList all = new TensorList();

    private Gemma4Tensors(SynthShape shape) {
        this.shape = shape;
    }

    /// {@return the keys that a shape needs}
    ///
    /// @param layers number of layers
    /// @param period layers from one that sees everything to the next
    /// @param shared layers without keys and values, the last ones
    /// @param ownWidth elements of the feed-forward layer of the others
    /// @param sharedWidth elements of theirs
    static Map<String, GgufValue> keys(int layers, int period, int shared, int ownWidth, int sharedWidth) {
        boolean[] windows = new boolean[layers];
        long[] widths = new long[layers];
        for (int layer = 0; layer < layers; layer++) {
            windows[layer] = layer % period != period - 1;
            widths[layer] = layer < layers - shared ? ownWidth : sharedWidth;
        }
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put("attention.sliding_window", GgufValue.ofUint32(512));
        keys.put(PATTERN, new GgufValue(GgufType.ARRAY, GgufType.BOOL, windows));
        keys.put(WINDOW_HEAD, GgufValue.ofUint32(256));
        keys.put("attention.value_length_swa", GgufValue.ofUint32(256));
        keys.put("rope.dimension_count_swa", GgufValue.ofUint32(256));
        keys.put("rope.freq_base_swa", GgufValue.of(10_000f));
        keys.put(SHARED, GgufValue.ofUint32(shared));
        keys.put(WIDTHS, GgufValue.ofInt32Array(widths));
        keys.put(INPUTS, GgufValue.ofUint32(256));
        keys.put("final_logit_softcapping", GgufValue.of(30f));
        return keys;
    }

    /// {@return what `rope_freqs.weight` divides by: only the first quarter of the pairs turns}
    static float[] ropeFactors(SynthShape shape) {
        float[] factors = new float[shape.headLength() / 2];
        Arrays.fill(factors, 1e30f);
        Arrays.fill(factors, 0, factors.length / 4, 1);
        return factors;
    }

    /// {@return the tensors beside the embedding, the last norm and the factors of the rotation}
    static List<Tensor> of(SynthShape shape) {
        return new Gemma4Tensors(shape).run();
    }

    private List<Tensor> run() {
        long embedding = shape.embedding();
        long input = TensorList.number(shape, INPUTS);
        long inputs = input * shape.layers();
        all.add("per_layer_token_embd.weight", inputs, shape.vocabulary());
        all.add("per_layer_model_proj.weight", embedding, inputs);
        all.add("per_layer_proj_norm.weight", input);
        boolean[] windows = (boolean[]) shape.keys().get(PATTERN).value();
        long[] widths = (long[]) shape.keys().get(WIDTHS).value();
        for (int layer = 0; layer < shape.layers(); layer++) {
            String blk = "blk." + layer + ".";
            long head = windows[layer] ? TensorList.number(shape, WINDOW_HEAD) : shape.headLength();
            attention(blk, head, layer < shape.layers() - TensorList.number(shape, SHARED));
            all.add(blk + "ffn_norm.weight", embedding);
            all.add(blk + "ffn_gate.weight", embedding, widths[layer]);
            all.add(blk + "ffn_up.weight", embedding, widths[layer]);
            all.add(blk + "ffn_down.weight", widths[layer], embedding);
            all.add(blk + "post_ffw_norm.weight", embedding);
            all.add(blk + "inp_gate.weight", embedding, input);
            all.add(blk + "proj.weight", input, embedding);
            all.add(blk + "post_norm.weight", embedding);
            all.add(blk + "layer_output_scale.weight", 1);
        }
        return all.tensors();
    }

    private void attention(String blk, long head, boolean own) {
        long embedding = shape.embedding();
        all.add(blk + "attn_norm.weight", embedding);
        all.add(blk + "attn_q.weight", embedding, shape.heads() * head);
        all.add(blk + "attn_q_norm.weight", head);
        if (own) {
            all.add(blk + "attn_k.weight", embedding, shape.headsKv() * head);
            all.add(blk + "attn_k_norm.weight", head);
            all.add(blk + "attn_v.weight", embedding, shape.headsKv() * head);
        }
        all.add(blk + "attn_output.weight", shape.heads() * head, embedding);
        all.add(blk + "post_attention_norm.weight", embedding);
    }
}
