package dev.tenon.models.qwen3;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;

class Qwen35MoeArchitectureTests extends DeltaRuleWithExpertsContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Qwen35MoeArchitecture();
    }

    @Override
    TinySource rates(TinySource tiny) {
        return tiny.tensor("blk.0.ssm_alpha.weight", 32, 4).tensor("blk.0.ssm_beta.weight", 32, 4);
    }

    @Override
    List<String> rates() {
        return List.of(
                "ssm_beta = linear attn_norm, ssm_beta.weight [32, 4]",
                "ssm_alpha = linear attn_norm, ssm_alpha.weight [32, 4]");
    }

    @Override
    String keyHeads() {
        return "CYCLIC";
    }
}
