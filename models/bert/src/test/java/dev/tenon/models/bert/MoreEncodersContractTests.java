package dev.tenon.models.bert;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// The encoders that came after BERT and nomic-bert keep the contract of architectures.
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"jina-bert-v2", "jina-bert-v3", "nomic-bert-moe", "eurobert", "t5encoder"})
class MoreEncodersContractTests extends TinyArchitectureContract {
    private final String id;

    MoreEncodersContractTests(String id) {
        this.id = id;
    }

    @Override
    protected ModelArchitecture architecture() {
        return switch (id) {
            case "jina-bert-v2" -> new JinaBertV2Architecture();
            case "jina-bert-v3" -> new JinaBertV3Architecture();
            case "nomic-bert-moe" -> new NomicBertMoeArchitecture();
            case "eurobert" -> new EuroBertArchitecture();
            default -> new T5EncoderArchitecture();
        };
    }

    @Override
    protected TinySource tiny() {
        return MoreEncodersTests.tiny(id);
    }

    @Override
    protected Set<String> ownKeys() {
        return switch (id) {
            case "nomic-bert-moe" ->
                Set.of("feed_forward_length", "moe_every_n_layers", "expert_count", "expert_used_count");
            case "t5encoder" -> Set.of("feed_forward_length", "attention.relative_buckets_count");
            default -> Set.of("feed_forward_length");
        };
    }

    @Override
    protected ModelConfig expectedConfig() {
        ModelConfig.Builder config = tiny().beginning();
        return switch (id) {
            case "eurobert" -> config.ropeFreqBase(250_000).build();
            case "t5encoder" ->
                config.headCountKv(4).keyLength(16).valueLength(16).ropeDim(16).build();
            case "jina-bert-v3" -> config.headCountKv(4).ropeFreqBase(20_000).build();
            default -> config.headCountKv(4).build();
        };
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
