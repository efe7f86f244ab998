package dev.tenon.itest.framework;

import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.itest.testkit.models.TinyGguf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/// Metadata, tensor shapes and files of tiny models of our architectures.
final class TinyModels {
    static final int WIDTH = 32;
    static final int HEADS = 4;
    static final int KV_HEADS = 2;
    static final int FEED_FORWARD = 48;
    static final int LAYERS = 2;
    static final int CONTEXT = 128;
    static final int VOCAB = 259;

    /// An architecture whose sequences have a state beside keys and values.
    static final String HYBRID = "lfm2";

    private static final int TAPS = 3;

    private TinyModels() {}

    /// {@return elements of a head: qwen3 has heads wider than their share of the residual stream}
    static int headDim(String architecture) {
        return architecture.equals("qwen3") ? 16 : WIDTH / HEADS;
    }

    static Map<String, GgufValue> metadata(String architecture) {
        Map<String, GgufValue> m = new LinkedHashMap<>();
        m.put("general.architecture", GgufValue.of(architecture));
        m.put("general.name", GgufValue.of("tiny"));
        m.put(architecture + ".block_count", GgufValue.ofUint32(LAYERS));
        m.put(architecture + ".context_length", GgufValue.ofUint32(CONTEXT));
        m.put(architecture + ".embedding_length", GgufValue.ofUint32(WIDTH));
        m.put(architecture + ".feed_forward_length", GgufValue.ofUint32(FEED_FORWARD));
        m.put(architecture + ".attention.head_count", GgufValue.ofUint32(HEADS));
        m.put(architecture + ".attention.head_count_kv", GgufValue.ofUint32(KV_HEADS));
        m.put(architecture + ".attention.key_length", GgufValue.ofUint32(headDim(architecture)));
        m.put(architecture + ".attention.value_length", GgufValue.ofUint32(headDim(architecture)));
        m.put(architecture + ".attention.layer_norm_rms_epsilon", GgufValue.of(1e-5f));
        m.put(architecture + ".rope.freq_base", GgufValue.of(5000f));
        if (architecture.equals(HYBRID)) {
            // The first layer has a convolution in the place of attention.
            m.put(
                    HYBRID + ".attention.head_count_kv",
                    new GgufValue(GgufType.ARRAY, GgufType.INT32, new long[] {0, KV_HEADS}));
            m.put(HYBRID + ".shortconv.l_cache", GgufValue.ofUint32(TAPS));
        }
        return m;
    }

    static Map<String, List<Long>> tensors(String architecture) {
        long q = (long) HEADS * headDim(architecture);
        long kv = (long) KV_HEADS * headDim(architecture);
        long width = WIDTH;
        long feedForward = FEED_FORWARD;
        Map<String, List<Long>> t = new LinkedHashMap<>();
        t.put("token_embd.weight", List.of(width, (long) VOCAB));
        boolean hybrid = architecture.equals(HYBRID);
        t.put(hybrid ? "token_embd_norm.weight" : "output_norm.weight", List.of(width));
        t.put("output.weight", List.of(width, (long) VOCAB));
        if (architecture.equals("llama")) {
            t.put("rope_freqs.weight", List.of(headDim(architecture) / 2L));
        }
        for (int l = 0; l < LAYERS; l++) {
            String blk = "blk." + l + ".";
            t.put(blk + "attn_norm.weight", List.of(width));
            if (hybrid && l == 0) {
                t.put(blk + "shortconv.in_proj.weight", List.of(width, 3 * width));
                t.put(blk + "shortconv.conv.weight", List.of((long) TAPS, width));
                t.put(blk + "shortconv.out_proj.weight", List.of(width, width));
            } else {
                t.put(blk + "attn_q.weight", List.of(width, q));
                t.put(blk + "attn_k.weight", List.of(width, kv));
                t.put(blk + "attn_v.weight", List.of(width, kv));
                t.put(blk + "attn_output.weight", List.of(q, width));
            }
            if (architecture.equals("qwen3") || hybrid && l > 0) {
                t.put(blk + "attn_q_norm.weight", List.of((long) headDim(architecture)));
                t.put(blk + "attn_k_norm.weight", List.of((long) headDim(architecture)));
            }
            t.put(blk + "ffn_norm.weight", List.of(width));
            t.put(blk + "ffn_gate.weight", List.of(width, feedForward));
            t.put(blk + "ffn_up.weight", List.of(width, feedForward));
            t.put(blk + "ffn_down.weight", List.of(feedForward, width));
        }
        return t;
    }

    /// Writes a loadable model with random F32 weights and a byte vocabulary.
    static Path write(String architecture, Path file) throws IOException {
        TinyGguf gguf = new TinyGguf().putAll(metadata(architecture));
        String[] tokens = new String[VOCAB];
        float[] scores = new float[VOCAB];
        long[] types = new long[VOCAB];
        for (int i = 0; i < VOCAB; i++) {
            tokens[i] = i < 3 ? List.of("<unk>", "<s>", "</s>").get(i) : "<0x%02X>".formatted(i - 3);
            types[i] = i < 1 ? 2 : i < 3 ? 3 : 6;
        }
        gguf.put("tokenizer.ggml.model", GgufValue.of("llama"));
        gguf.put("tokenizer.ggml.tokens", GgufValue.of(tokens));
        gguf.put("tokenizer.ggml.scores", GgufValue.of(scores));
        gguf.put("tokenizer.ggml.token_type", new GgufValue(GgufType.ARRAY, GgufType.INT32, types));
        gguf.put("tokenizer.ggml.bos_token_id", GgufValue.ofUint32(1));
        gguf.put("tokenizer.ggml.eos_token_id", GgufValue.ofUint32(2));
        gguf.put("tokenizer.ggml.unknown_token_id", GgufValue.ofUint32(0));
        Random random = new Random(1);
        tensors(architecture).forEach((name, shape) -> {
            float[] values = new float[Math.toIntExact(shape.stream().reduce(1L, Math::multiplyExact))];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) (shape.size() == 1 ? 1 : random.nextGaussian() / Math.sqrt(shape.getFirst()));
            }
            gguf.tensor(name, 0, shape, TinyGguf.f32(values));
        });
        return gguf.write(file);
    }
}
