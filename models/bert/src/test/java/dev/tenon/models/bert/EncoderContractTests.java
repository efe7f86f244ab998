package dev.tenon.models.bert;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.ArchitectureContract;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// The encoders keep the contract of architectures.
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"bert", "nomic-bert", "modern-bert"})
class EncoderContractTests extends ArchitectureContract {
    private static final int WIDTH = 32;
    private static final int HEADS = 4;
    private static final int FEED_FORWARD = 48;
    private static final int LAYERS = 3;
    private static final int CONTEXT = 128;
    private static final int VOCAB = 67;

    private final String id;

    EncoderContractTests(String id) {
        this.id = id;
    }

    @Override
    protected ModelArchitecture architecture() {
        return switch (id) {
            case "bert" -> new BertArchitecture();
            case "nomic-bert" -> new NomicBertArchitecture();
            default -> new ModernBertArchitecture();
        };
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        Map<String, GgufValue> m = new LinkedHashMap<>();
        m.put("general.architecture", GgufValue.of(id));
        m.put("general.name", GgufValue.of("tiny"));
        m.put(id + ".block_count", GgufValue.ofUint32(LAYERS));
        m.put(id + ".context_length", GgufValue.ofUint32(CONTEXT));
        m.put(id + ".embedding_length", GgufValue.ofUint32(WIDTH));
        m.put(id + ".feed_forward_length", GgufValue.ofUint32(FEED_FORWARD));
        m.put(id + ".attention.head_count", GgufValue.ofUint32(HEADS));
        m.put(id + ".attention.layer_norm_epsilon", GgufValue.of(1e-5f));
        m.put(id + ".attention.causal", GgufValue.of(false));
        m.put(id + ".pooling_type", GgufValue.ofUint32(1));
        m.put(id + ".rope.freq_base", GgufValue.of(5000f));
        if (id.equals("modern-bert")) {
            m.put(id + ".attention.sliding_window", GgufValue.ofUint32(6));
            m.put(id + ".rope.freq_base_swa", GgufValue.of(2000f));
        }
        return m;
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        Map<String, List<Long>> t = new LinkedHashMap<>();
        matrix(t, "token_embd", WIDTH, VOCAB);
        norm(t, "token_embd_norm");
        if (id.equals("modern-bert")) {
            norm(t, "output_norm");
        } else {
            matrix(t, "token_types", WIDTH, 2);
        }
        if (id.equals("bert")) {
            matrix(t, "position_embd", WIDTH, CONTEXT);
        }
        for (int layer = 0; layer < LAYERS; layer++) {
            String blk = "blk." + layer + ".";
            layer(t, blk, layer);
        }
        return t;
    }

    private void layer(Map<String, List<Long>> t, String blk, int layer) {
        if (id.equals("bert")) {
            for (String name : List.of("attn_q", "attn_k", "attn_v")) {
                linear(t, blk + name, WIDTH, WIDTH);
            }
            linear(t, blk + "attn_output", WIDTH, WIDTH);
            linear(t, blk + "ffn_up", WIDTH, FEED_FORWARD);
            linear(t, blk + "ffn_down", FEED_FORWARD, WIDTH);
        } else {
            boolean modern = id.equals("modern-bert");
            matrix(t, blk + "attn_qkv", WIDTH, 3 * WIDTH);
            matrix(t, blk + "attn_output", WIDTH, WIDTH);
            matrix(t, blk + "ffn_up", WIDTH, modern ? 2 * FEED_FORWARD : FEED_FORWARD);
            matrix(t, blk + "ffn_down", FEED_FORWARD, WIDTH);
            if (!modern) {
                matrix(t, blk + "ffn_gate", WIDTH, FEED_FORWARD);
            } else {
                norm(t, blk + "ffn_norm");
            }
            if (modern && layer > 0) {
                norm(t, blk + "attn_norm");
            }
        }
        if (!id.equals("modern-bert")) {
            norm(t, blk + "attn_output_norm");
            norm(t, blk + "layer_output_norm");
        }
    }

    private static void matrix(Map<String, List<Long>> t, String name, long cols, long rows) {
        t.put(name + ".weight", List.of(cols, rows));
    }

    private static void linear(Map<String, List<Long>> t, String name, long cols, long rows) {
        matrix(t, name, cols, rows);
        t.put(name + ".bias", List.of(rows));
    }

    private void norm(Map<String, List<Long>> t, String name) {
        t.put(name + ".weight", List.of((long) WIDTH));
        if (!id.equals("modern-bert")) {
            t.put(name + ".bias", List.of((long) WIDTH));
        }
    }

    @Override
    protected ModelConfig expectedConfig() {
        return ModelConfig.builder(id)
                .name("tiny")
                .contextLength(CONTEXT)
                .embeddingLength(WIDTH)
                .blockCount(LAYERS)
                .headCount(HEADS)
                .headCountKv(HEADS)
                .keyLength(WIDTH / HEADS)
                .valueLength(WIDTH / HEADS)
                .feedForwardLength(FEED_FORWARD)
                .vocabularySize(VOCAB)
                .rmsEps(1e-5f)
                .ropeDim(WIDTH / HEADS)
                .ropeFreqBase(5000)
                .ropeFreqScale(1)
                .build();
    }

    @Override
    protected Set<String> requiredKeys() {
        Set<String> keys = new HashSet<>(Set.of(
                "general.architecture",
                id + ".block_count",
                id + ".context_length",
                id + ".embedding_length",
                id + ".feed_forward_length",
                id + ".attention.head_count",
                id + ".attention.layer_norm_epsilon"));
        if (id.equals("modern-bert")) {
            keys.add(id + ".attention.sliding_window");
        }
        return keys;
    }

    @Override
    protected boolean mayBeTied() {
        return false;
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }
}
