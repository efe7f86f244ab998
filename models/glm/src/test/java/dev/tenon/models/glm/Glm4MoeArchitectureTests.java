package dev.tenon.models.glm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Glm4MoeArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Glm4MoeArchitecture();
    }

    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource("glm4moe")
                .key("block_count", 3)
                .key("nextn_predict_layers", 1)
                .key("leading_dense_block_count", 1)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_shared_count", 1)
                .key("expert_feed_forward_length", 24)
                .key("expert_weights_scale", 1.5f)
                .key("rope.dimension_count", 4)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.1.exp_probs_b.bias", 6)
                .tensor("blk.1.ffn_gate_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_up_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_down_exps.weight", 24, 32, 6)
                .tensor("blk.1.ffn_gate_shexp.weight", 32, 24)
                .tensor("blk.1.ffn_up_shexp.weight", 32, 24)
                .tensor("blk.1.ffn_down_shexp.weight", 24, 32)
                .tensor("blk.2.nextn.eh_proj.weight", 64, 32);
        for (String blk : new String[] {"blk.0.", "blk.1."}) {
            tiny.tensor(blk + "attn_norm.weight", 32)
                    .tensor(blk + "attn_q.weight", 32, 32)
                    .tensor(blk + "attn_q.bias", 32)
                    .tensor(blk + "attn_q_norm.weight", 8)
                    .tensor(blk + "attn_k.weight", 32, 16)
                    .tensor(blk + "attn_k.bias", 16)
                    .tensor(blk + "attn_k_norm.weight", 8)
                    .tensor(blk + "attn_v.weight", 32, 16)
                    .tensor(blk + "attn_v.bias", 16)
                    .tensor(blk + "attn_output.weight", 32, 32)
                    .tensor(blk + "post_attention_norm.weight", 32);
        }
        return tiny;
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("expert_feed_forward_length", "expert_count", "expert_used_count", "expert_shared_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeFreqBase(1_000_000).ropeDim(4).build();
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear attn_norm, attn_k.weight [32, 16], attn_k.bias [16, 1]
                    attn_v = linear attn_norm, attn_v.weight [32, 16], attn_v.bias [16, 1]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, 4 of heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, 4 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    post_attention_norm = rms_norm attn_residual, post_attention_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear post_attention_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear post_attention_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear attn_norm, attn_k.weight [32, 16], attn_k.bias [16, 1]
                    attn_v = linear attn_norm, attn_v.weight [32, 16], attn_v.bias [16, 1]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, 4 of heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, 4 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    post_attention_norm = rms_norm attn_residual, post_attention_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear post_attention_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 2, normalise true, scale 1.5, \
                exp_probs_b.bias [6, 1]
                    ffn_gate_exps = expert_linear post_attention_norm, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear post_attention_norm, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear post_attention_norm, ffn_gate_shexp.weight [32, 24]
                    ffn_up_shexp = linear post_attention_norm, ffn_up_shexp.weight [32, 24]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [24, 32]
                    ffn_both = add ffn_moe, ffn_down_shexp
                    ffn_residual = add attn_residual, ffn_both
                output_norm = rms_norm blk.1.ffn_residual, output_norm.weight [32, 1], eps 1.0E-5
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden_rows=output_norm, hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void expertsThatAreNotThereAreRefused() {
        refused(tiny().without("expert_count"), ErrorCode.MODEL_KEY_MISSING, "glm4moe.expert_count");
        refused(tiny().key("expert_used_count", 7), ErrorCode.MODEL_KEY_VALUE, "glm4moe.expert_used_count");
        refused(tiny().key("expert_gating_func", 9), ErrorCode.MODEL_ARCHITECTURE, "glm4moe.expert_gating_func");
    }

    @Test
    void theHeadHasTheModelsTablesUnlessTheFileHasItsOwn() {
        ModelArchitecture glm = architecture();
        List<String> usual = tensors(glm.head(tiny().source()));
        assertEquals(
                List.of("token_embd.weight", "blk.2.nextn.enorm.weight", "blk.2.nextn.hnorm.weight"),
                usual.subList(0, 3));
        assertTrue(usual.contains("blk.2.ffn_down_exps.weight"), "a layer of experts");
        assertEquals(List.of("output_norm.weight", "output.weight"), usual.subList(usual.size() - 2, usual.size()));
        ModelSource own = tiny().tensor("blk.2.nextn.embed_tokens.weight", 32, 67)
                .tensor("blk.2.nextn.shared_head_norm.weight", 32)
                .tensor("blk.2.nextn.shared_head_head.weight", 32, 67)
                .source();
        List<String> others = tensors(glm.head(own));
        assertEquals("blk.2.nextn.embed_tokens.weight", others.getFirst());
        assertEquals(
                List.of("blk.2.nextn.shared_head_norm.weight", "blk.2.nextn.shared_head_head.weight"),
                others.subList(others.size() - 2, others.size()));
        assertEquals(
                Optional.empty(), glm.head(tiny().key("nextn_predict_layers", 0).source()));
    }

    private static List<String> tensors(Optional<Graph> graph) {
        return graph.orElseThrow().weights().stream().map(Weight::name).toList();
    }

    @Test
    void theDraftBlockIsLeftOverAndNothingElse() {
        ModelSource source = tiny().source();
        assertTrue(architecture().ignores(source, "blk.2.nextn.eh_proj.weight"));
        assertFalse(architecture().ignores(source, "blk.1.attn_output.bias"));
    }
}
