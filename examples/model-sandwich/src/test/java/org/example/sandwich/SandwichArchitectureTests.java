package org.example.sandwich;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.ArchitectureContract;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The architecture keeps its contract on a tiny model: seven layers, so that one of them is
/// global.
class SandwichArchitectureTests extends ArchitectureContract {
    private static final int LAYERS = 7;
    private static final long WIDTH = 32;
    private static final long VOCAB = 67;
    private static final long HEAD = 16;
    private static final long FEED_FORWARD = 48;

    @Override
    protected ModelArchitecture architecture() {
        return new SandwichArchitecture();
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        Map<String, GgufValue> m = new LinkedHashMap<>();
        m.put("general.architecture", GgufValue.of("sandwich"));
        m.put("general.name", GgufValue.of("tiny"));
        m.put("sandwich.block_count", GgufValue.ofUint32(LAYERS));
        m.put("sandwich.context_length", GgufValue.ofUint32(128));
        m.put("sandwich.embedding_length", GgufValue.ofUint32(WIDTH));
        m.put("sandwich.feed_forward_length", GgufValue.ofUint32(FEED_FORWARD));
        m.put("sandwich.attention.head_count", GgufValue.ofUint32(4));
        m.put("sandwich.attention.head_count_kv", GgufValue.ofUint32(2));
        m.put("sandwich.attention.key_length", GgufValue.ofUint32(HEAD));
        m.put("sandwich.attention.value_length", GgufValue.ofUint32(HEAD));
        m.put("sandwich.attention.layer_norm_rms_epsilon", GgufValue.of(1e-6f));
        m.put("sandwich.attention.sliding_window", GgufValue.ofUint32(5));
        m.put("sandwich.rope.freq_base", GgufValue.of(1e6f));
        m.put("sandwich.rope.freq_base_swa", GgufValue.of(1e4f));
        m.put("sandwich.rope.scaling.type", GgufValue.of("linear"));
        m.put("sandwich.rope.scaling.factor", GgufValue.of(8f));
        return m;
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        Map<String, List<Long>> t = new LinkedHashMap<>();
        t.put("token_embd.weight", List.of(WIDTH, VOCAB));
        t.put("output_norm.weight", List.of(WIDTH));
        t.put("output.weight", List.of(WIDTH, VOCAB));
        for (int layer = 0; layer < LAYERS; layer++) {
            String blk = "blk." + layer + ".";
            t.put(blk + "attn_norm.weight", List.of(WIDTH));
            t.put(blk + "attn_q.weight", List.of(WIDTH, 4 * HEAD));
            t.put(blk + "attn_k.weight", List.of(WIDTH, 2 * HEAD));
            t.put(blk + "attn_v.weight", List.of(WIDTH, 2 * HEAD));
            t.put(blk + "attn_q_norm.weight", List.of(HEAD));
            t.put(blk + "attn_k_norm.weight", List.of(HEAD));
            t.put(blk + "attn_output.weight", List.of(4 * HEAD, WIDTH));
            t.put(blk + "post_attention_norm.weight", List.of(WIDTH));
            t.put(blk + "ffn_norm.weight", List.of(WIDTH));
            t.put(blk + "ffn_gate.weight", List.of(WIDTH, FEED_FORWARD));
            t.put(blk + "ffn_up.weight", List.of(WIDTH, FEED_FORWARD));
            t.put(blk + "ffn_down.weight", List.of(FEED_FORWARD, WIDTH));
            t.put(blk + "post_ffw_norm.weight", List.of(WIDTH));
        }
        return t;
    }

    @Override
    protected ModelConfig expectedConfig() {
        int head = (int) HEAD;
        return ModelConfig.builder("sandwich").name("tiny").contextLength(128).embeddingLength((int) WIDTH).blockCount(LAYERS).headCount(4).headCountKv(2).keyLength(head).valueLength(head).feedForwardLength((int) FEED_FORWARD).vocabularySize((int) VOCAB).rmsEps(1e-6f).ropeDim(head).ropeFreqBase(1e6f).ropeFreqScale(0.125f).build();
    }

    @Override
    protected Set<String> requiredKeys() {
        return Set.of(
                "general.architecture",
                "sandwich.block_count",
                "sandwich.context_length",
                "sandwich.embedding_length",
                "sandwich.feed_forward_length",
                "sandwich.attention.head_count",
                "sandwich.attention.layer_norm_rms_epsilon");
    }

    /// Norms stand after attention and the feed-forward layer, where the fused ops have none.
    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    private Graph graph(Map<String, GgufValue> metadata) {
        return architecture().define(source(metadata, tensors())).graph();
    }

    @Test
    void everySixthLayerIsGlobalAndRotatesWithTheScaledGlobalBase() {
        Graph graph = graph(metadata());
        assertEquals(
                List.of(5, 5, 5, 5, 5, 0, 5),
                graph.attentionLayers().stream()
                        .map(a -> a.params().slidingWindow())
                        .toList());
        List<CoreOp.Rope> ropes = graph.ops().stream()
                .filter(CoreOp.Rope.class::isInstance)
                .map(CoreOp.Rope.class::cast)
                .toList();
        assertEquals(2 * LAYERS, ropes.size());
        for (int i = 0; i < ropes.size(); i++) {
            boolean global = i / 2 == 5;
            assertEquals(global ? 1e6f : 1e4f, ropes.get(i).params().freqBase(), "layer " + i / 2);
            assertEquals(global ? 0.125f : 1, ropes.get(i).params().freqScale(), "layer " + i / 2);
        }
    }

    @Test
    void chatsHaveATemplateThoughTheFileHasNone() {
        Map<String, GgufValue> tuned = new LinkedHashMap<>(metadata());
        assertTrue(template(tuned).isEmpty(), "not tuned for chats");
        tuned.put("general.finetune", GgufValue.of("it"));
        assertTrue(template(tuned).orElseThrow().contains("<start_of_turn>"));
        tuned.put("tokenizer.chat_template", GgufValue.of("{{ messages }}"));
        assertTrue(template(tuned).isEmpty(), "the file's own is used");
    }

    private Optional<String> template(Map<String, GgufValue> metadata) {
        return architecture().chatTemplate(source(metadata, tensors()).metadata());
    }

    @Test
    void withoutAWindowEveryLayerIsGlobal() {
        Map<String, GgufValue> without = new LinkedHashMap<>(metadata());
        without.remove("sandwich.attention.sliding_window");
        assertTrue(graph(without).attentionLayers().stream().allMatch(a -> a.params().slidingWindow() == 0));
    }

    @Test
    void aSoftCapIsRefusedWithItsKey() {
        Map<String, GgufValue> capped = new LinkedHashMap<>(metadata());
        capped.put("sandwich.final_logit_softcapping", GgufValue.of(30f));
        UnsupportedModelException e = assertThrows(UnsupportedModelException.class, () -> graph(capped));
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, e.code());
        assertTrue(e.getMessage().contains("sandwich.final_logit_softcapping"), e.getMessage());
    }
}
