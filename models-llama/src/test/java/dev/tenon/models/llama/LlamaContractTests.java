package dev.tenon.models.llama;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// Llama and ERNIE keep the contract of architectures.
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"llama", "ernie4_5"})
class LlamaContractTests extends TinyArchitectureContract {
    private final String id;

    LlamaContractTests(String id) {
        this.id = id;
    }

    @Override
    protected ModelArchitecture architecture() {
        return id.equals("llama") ? new LlamaArchitecture() : new Ernie45Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource(id)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("rope_freqs.weight", 4)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32);
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().build();
    }
}
