package dev.tenon.itest.examples;

import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.itest.testkit.models.TinyGguf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// A tiny model of examples/model-dyt: random F32 weights and a vocabulary of bytes.
final class DytModel {
    private static final long WIDTH = 64;
    private static final long FEED_FORWARD = 96;
    private static final int VOCABULARY = 259;

    private final Random random = new Random(5);
    private final TinyGguf gguf = new TinyGguf();

    private DytModel() {}

    /// Writes it.
    static void write(Path file) throws IOException {
        DytModel model = new DytModel();
        model.metadata();
        model.vocabulary();
        model.tensors();
        model.gguf.write(file);
    }

    private void metadata() {
        gguf.put("general.architecture", GgufValue.of("dyt"));
        gguf.put("dyt.block_count", GgufValue.ofUint32(2));
        gguf.put("dyt.context_length", GgufValue.ofUint32(128));
        gguf.put("dyt.embedding_length", GgufValue.ofUint32(WIDTH));
        gguf.put("dyt.feed_forward_length", GgufValue.ofUint32(FEED_FORWARD));
        gguf.put("dyt.attention.head_count", GgufValue.ofUint32(4));
        gguf.put("dyt.attention.head_count_kv", GgufValue.ofUint32(2));
        gguf.put("dyt.attention.layer_norm_rms_epsilon", GgufValue.of(0f));
    }

    private void vocabulary() {
        String[] tokens = new String[VOCABULARY];
        long[] types = new long[VOCABULARY];
        for (int i = 0; i < VOCABULARY; i++) {
            tokens[i] = i < 3 ? List.of("<unk>", "<s>", "</s>").get(i) : "<0x%02X>".formatted(i - 3);
            types[i] = i < 1 ? 2 : i < 3 ? 3 : 6;
        }
        gguf.put("tokenizer.ggml.model", GgufValue.of("llama"));
        gguf.put("tokenizer.ggml.tokens", GgufValue.of(tokens));
        gguf.put("tokenizer.ggml.scores", GgufValue.of(new float[VOCABULARY]));
        gguf.put("tokenizer.ggml.token_type", new GgufValue(GgufType.ARRAY, GgufType.INT32, types));
        gguf.put("tokenizer.ggml.bos_token_id", GgufValue.ofUint32(1));
        gguf.put("tokenizer.ggml.eos_token_id", GgufValue.ofUint32(2));
        gguf.put("tokenizer.ggml.unknown_token_id", GgufValue.ofUint32(0));
    }

    private void tensors() {
        tensor("token_embd.weight", WIDTH, VOCABULARY);
        tensor("output.weight", WIDTH, VOCABULARY);
        dynamicTanh("output_norm");
        for (int layer = 0; layer < 2; layer++) {
            String blk = "blk." + layer + ".";
            dynamicTanh(blk + "attn_norm");
            tensor(blk + "attn_q.weight", WIDTH, WIDTH);
            tensor(blk + "attn_k.weight", WIDTH, WIDTH / 2);
            tensor(blk + "attn_v.weight", WIDTH, WIDTH / 2);
            tensor(blk + "attn_output.weight", WIDTH, WIDTH);
            dynamicTanh(blk + "ffn_norm");
            tensor(blk + "ffn_gate.weight", WIDTH, FEED_FORWARD);
            tensor(blk + "ffn_up.weight", WIDTH, FEED_FORWARD);
            tensor(blk + "ffn_down.weight", FEED_FORWARD, WIDTH);
        }
    }

    private void dynamicTanh(String name) {
        tensor(name + ".alpha", 1);
        tensor(name + ".weight", WIDTH);
        tensor(name + ".bias", WIDTH);
    }

    private void tensor(String name, long... shape) {
        long elements = 1;
        for (long length : shape) {
            elements *= length;
        }
        float[] values = new float[Math.toIntExact(elements)];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (shape.length == 1 ? 0.5 + random.nextDouble() : random.nextGaussian() / 8);
        }
        gguf.tensor(name, 0, Arrays.stream(shape).boxed().toList(), TinyGguf.f32(values));
    }
}
