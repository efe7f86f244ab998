package org.example.dyt;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.ArchitectureContract;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The architecture keeps its contract, and its kernel computes what `evaluate` does.
class DytArchitectureTests extends ArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new DytArchitecture();
    }

    @Override
    protected List<KernelProvider> kernels() {
        return List.of(new DytKernels());
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        Map<String, GgufValue> m = new LinkedHashMap<>();
        m.put("general.architecture", GgufValue.of("dyt"));
        m.put("general.name", GgufValue.of("tiny"));
        m.put("dyt.block_count", GgufValue.ofUint32(2));
        m.put("dyt.context_length", GgufValue.ofUint32(128));
        m.put("dyt.embedding_length", GgufValue.ofUint32(32));
        m.put("dyt.feed_forward_length", GgufValue.ofUint32(48));
        m.put("dyt.attention.head_count", GgufValue.ofUint32(4));
        m.put("dyt.attention.head_count_kv", GgufValue.ofUint32(2));
        // There is no norm that would use it, but ModelConfig reads the key.
        m.put("dyt.attention.layer_norm_rms_epsilon", GgufValue.of(0f));
        return m;
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        Map<String, List<Long>> t = new LinkedHashMap<>();
        t.put("token_embd.weight", List.of(32L, 67L));
        t.put("output.weight", List.of(32L, 67L));
        dynamicTanh(t, "output_norm");
        for (int layer = 0; layer < 2; layer++) {
            String blk = "blk." + layer + ".";
            dynamicTanh(t, blk + "attn_norm");
            t.put(blk + "attn_q.weight", List.of(32L, 32L));
            t.put(blk + "attn_k.weight", List.of(32L, 16L));
            t.put(blk + "attn_v.weight", List.of(32L, 16L));
            t.put(blk + "attn_output.weight", List.of(32L, 32L));
            dynamicTanh(t, blk + "ffn_norm");
            t.put(blk + "ffn_gate.weight", List.of(32L, 48L));
            t.put(blk + "ffn_up.weight", List.of(32L, 48L));
            t.put(blk + "ffn_down.weight", List.of(48L, 32L));
        }
        return t;
    }

    private static void dynamicTanh(Map<String, List<Long>> tensors, String name) {
        tensors.put(name + ".alpha", List.of(1L));
        tensors.put(name + ".weight", List.of(32L));
        tensors.put(name + ".bias", List.of(32L));
    }

    @Override
    protected ModelConfig expectedConfig() {
        return ModelConfig.builder("dyt")
                .name("tiny")
                .contextLength(128)
                .embeddingLength(32)
                .blockCount(2)
                .headCount(4)
                .headCountKv(2)
                .keyLength(8)
                .valueLength(8)
                .feedForwardLength(48)
                .vocabularySize(67)
                .rmsEps(0)
                .ropeDim(8)
                .build();
    }

    @Override
    protected Set<String> requiredKeys() {
        return Set.of(
                "general.architecture",
                "dyt.block_count",
                "dyt.context_length",
                "dyt.embedding_length",
                "dyt.feed_forward_length",
                "dyt.attention.head_count",
                "dyt.attention.layer_norm_rms_epsilon");
    }

    /// An op of one's own is not fused with what is around it.
    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }
}
