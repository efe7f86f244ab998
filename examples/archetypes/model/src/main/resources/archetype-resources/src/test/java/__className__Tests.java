package ${package};

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.ArchitectureContract;
import dev.tenon.itest.testkit.GoldenLogits;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The architecture keeps its contract on a tiny model: describe here what a file of yours holds.
class ${className}Tests extends ArchitectureContract {
    private static final int LAYERS = 2;
    private static final long WIDTH = 64;
    private static final long VOCABULARY = 67;
    private static final int HEADS = 4;
    private static final int HEADS_KV = 2;
    private static final long HEAD = 16;
    private static final long FEED_FORWARD = 96;

    @Override
    protected ModelArchitecture architecture() {
        return new ${className}();
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        Map<String, GgufValue> m = new LinkedHashMap<>();
        m.put("general.architecture", GgufValue.of("${id}"));
        m.put("general.name", GgufValue.of("tiny"));
        m.put("${id}.block_count", GgufValue.ofUint32(LAYERS));
        m.put("${id}.context_length", GgufValue.ofUint32(128));
        m.put("${id}.embedding_length", GgufValue.ofUint32(WIDTH));
        m.put("${id}.feed_forward_length", GgufValue.ofUint32(FEED_FORWARD));
        m.put("${id}.attention.head_count", GgufValue.ofUint32(HEADS));
        m.put("${id}.attention.head_count_kv", GgufValue.ofUint32(HEADS_KV));
        m.put("${id}.attention.layer_norm_rms_epsilon", GgufValue.of(1e-6f));
        m.put("${id}.rope.freq_base", GgufValue.of(50_000f));
        return m;
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        Map<String, List<Long>> t = new LinkedHashMap<>();
        t.put("token_embd.weight", List.of(WIDTH, VOCABULARY));
        t.put("output_norm.weight", List.of(WIDTH));
        t.put("output.weight", List.of(WIDTH, VOCABULARY));
        for (int layer = 0; layer < LAYERS; layer++) {
            String blk = "blk." + layer + ".";
            t.put(blk + "attn_norm.weight", List.of(WIDTH));
            t.put(blk + "attn_q.weight", List.of(WIDTH, HEADS * HEAD));
            t.put(blk + "attn_k.weight", List.of(WIDTH, HEADS_KV * HEAD));
            t.put(blk + "attn_v.weight", List.of(WIDTH, HEADS_KV * HEAD));
            t.put(blk + "attn_output.weight", List.of(HEADS * HEAD, WIDTH));
            t.put(blk + "ffn_norm.weight", List.of(WIDTH));
            t.put(blk + "ffn_gate.weight", List.of(WIDTH, FEED_FORWARD));
            t.put(blk + "ffn_up.weight", List.of(WIDTH, FEED_FORWARD));
            t.put(blk + "ffn_down.weight", List.of(FEED_FORWARD, WIDTH));
        }
        return t;
    }

    @Override
    protected ModelConfig expectedConfig() {
        int head = (int) HEAD;
        return ModelConfig.builder("${id}").name("tiny").contextLength(128).embeddingLength((int) WIDTH).blockCount(LAYERS).headCount(HEADS).headCountKv(HEADS_KV).keyLength(head).valueLength(head).feedForwardLength((int) FEED_FORWARD).vocabularySize((int) VOCABULARY).rmsEps(1e-6f).ropeDim(head).ropeFreqBase(50_000f).ropeFreqScale(1).build();
    }

    /// By a program of another author, for the tiny model: `mvn test -Dtenon.golden.model=tiny.gguf` writes it as a file.
    /// The logits of the first tokens do; compute them again when you change the model.
    @Override
    protected List<GoldenLogits> golden() {
        return List.of(new GoldenLogits(
                "six tokens",
                new int[] {1, 5, 9, 2, 6, 3},
                1.277418f, 0.599096f, 0.507843f, 1.260973f, -0.962051f, -0.540354f, 1.807736f, -0.703459f));
    }

    @Override
    protected Set<String> requiredKeys() {
        return Set.of(
                "general.architecture",
                "${id}.block_count",
                "${id}.context_length",
                "${id}.embedding_length",
                "${id}.feed_forward_length",
                "${id}.attention.head_count",
                "${id}.attention.layer_norm_rms_epsilon");
    }
}
