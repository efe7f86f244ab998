package dev.tenon.models.qwen3;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;

class Qwen3NextArchitectureTests extends DeltaRuleWithExpertsContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Qwen3NextArchitecture();
    }

    @Override
    TinySource rates(TinySource tiny) {
        return tiny.tensor("blk.0.ssm_ba.weight", 32, 8);
    }

    @Override
    List<String> rates() {
        return List.of(
                "ssm_ba = linear attn_norm, ssm_ba.weight [32, 8]",
                "ssm_beta = slice ssm_ba, groups 2, from 0",
                "ssm_alpha = slice ssm_ba, groups 2, from 2");
    }

    @Override
    String keyHeads() {
        return "BLOCK";
    }
}
