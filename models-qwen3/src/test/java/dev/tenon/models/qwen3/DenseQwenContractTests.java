package dev.tenon.models.qwen3;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// The dense Qwen models keep the contract of architectures.
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"qwen2", "qwen2vl", "qwen3", "qwen3vl"})
class DenseQwenContractTests extends TinyArchitectureContract {
    private final String id;

    DenseQwenContractTests(String id) {
        this.id = id;
    }

    @Override
    protected ModelArchitecture architecture() {
        return switch (id) {
            case "qwen2" -> new Qwen2Architecture();
            case "qwen2vl" -> new Qwen2VlArchitecture();
            case "qwen3" -> new Qwen3Architecture();
            default -> new Qwen3VlArchitecture();
        };
    }

    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource(id)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32);
        return id.startsWith("qwen2")
                ? tiny.each("attn_q.bias", 32).each("attn_k.bias", 16).each("attn_v.bias", 16)
                : tiny.each("attn_q_norm.weight", 8).each("attn_k_norm.weight", 8);
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeFreqBase(1_000_000).build();
    }
}
