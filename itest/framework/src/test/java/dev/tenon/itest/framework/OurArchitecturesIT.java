package dev.tenon.itest.framework;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.ArchitectureContract;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// Our architectures, found by `ServiceLoader` in the finished jars, keep the architecture contract.
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"llama", "qwen3"})
class OurArchitecturesIT extends ArchitectureContract {
    private final String id;

    OurArchitecturesIT(String id) {
        this.id = id;
    }

    @Override
    protected ModelArchitecture architecture() {
        return ServiceLoader.load(ModelArchitecture.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(a -> a.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no architecture " + id));
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        return TinyModels.metadata(id);
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        return TinyModels.tensors(id);
    }

    @Override
    protected ModelConfig expectedConfig() {
        int dim = TinyModels.headDim(id);
        return ModelConfig.builder(id)
                .name("tiny")
                .contextLength(TinyModels.CONTEXT)
                .embeddingLength(TinyModels.WIDTH)
                .blockCount(TinyModels.LAYERS)
                .headCount(TinyModels.HEADS)
                .headCountKv(TinyModels.KV_HEADS)
                .keyLength(dim)
                .valueLength(dim)
                .feedForwardLength(TinyModels.FEED_FORWARD)
                .vocabularySize(TinyModels.VOCAB)
                .rmsEps(1e-5f)
                .ropeDim(dim)
                .ropeFreqBase(5000)
                .ropeFreqScale(1)
                .build();
    }

    @Override
    protected Set<String> requiredKeys() {
        return Set.of(
                "general.architecture",
                id + ".block_count",
                id + ".context_length",
                id + ".embedding_length",
                id + ".feed_forward_length",
                id + ".attention.head_count",
                id + ".attention.layer_norm_rms_epsilon");
    }
}
