package dev.tenon.models.gemma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Gemma3nArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Gemma3nArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("gemma3n")
                .key("embedding_length_per_layer_input", 8)
                .key("block_count", 4)
                .key("attention.sliding_window", 16)
                .key("attention.sliding_window_pattern", 2)
                .key("attention.shared_kv_layers", 2)
                .key("altup.num_inputs", 3)
                .key("activation_sparsity_scale", 1.5f)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("altup_proj.weight", 32, 32, 2)
                .tensor("altup_unembd_proj.weight", 32, 32, 2)
                .tensor("per_layer_token_embd.weight", 32, 67)
                .tensor("per_layer_model_proj.weight", 32, 32)
                .tensor("per_layer_proj_norm.weight", 8)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("attn_q_norm.weight", 8)
                .each("attn_k_norm.weight", 8)
                .each("post_attention_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32)
                .each("post_ffw_norm.weight", 32)
                .each("inp_gate.weight", 32, 8)
                .each("proj.weight", 8, 32)
                .each("post_norm.weight", 32)
                .each("altup_router.weight", 32, 3)
                .each("altup_router_norm.weight", 32)
                .each("altup_predict_coef.weight", 3, 9)
                .each("altup_correct_coef.weight", 3, 3)
                .each("altup_correct_scale.weight", 32)
                .each("laurel_l.weight", 32, 64)
                .each("laurel_r.weight", 64, 32)
                .each("laurel_post_norm.weight", 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "feed_forward_length",
                "attention.sliding_window",
                "altup.num_inputs",
                "embedding_length_per_layer_input",
                "activation_sparsity_scale");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().blockCount(4).ropeFreqBase(1_000_000).build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                embd_scaled = scale embd, factor 5.656854
                per_layer_model_proj = linear embd_scaled, per_layer_model_proj.weight [32, 32]
                per_layer_proj_scaled = scale per_layer_model_proj, factor 0.17677669
                per_layer_proj_norm = rms_norm per_layer_proj_scaled, per_layer_proj_norm.weight [8, 1], eps 1.0E-5
                per_layer_embd = embedding per_layer_token_embd.weight [32, 67]
                per_layer_embd_scaled = scale per_layer_embd, factor 2.828427
                per_layer_sum = add per_layer_proj_norm, per_layer_embd_scaled
                per_layer_inputs = scale per_layer_sum, factor 0.70710677
                altup_copies.2 = join embd_scaled, embd_scaled, groups 1
                altup_proj = head_linear altup_copies.2, altup_proj.weight [32, 32, 2]
                altup_proj_unit = plain_rms_norm altup_proj, groups 2, eps 1.0E-30
                altup_proj_length_unit = plain_rms_norm embd_scaled, groups 1, eps 1.0E-30
                altup_proj_length_squares = multiply embd_scaled, altup_proj_length_unit
                altup_proj_length = group_mean altup_proj_length_squares, groups 1
                altup_proj_unit.0 = slice altup_proj_unit, groups 1, from 0
                altup_proj.0 = multiply altup_proj_unit.0, altup_proj_length
                altup_proj_unit.1 = slice altup_proj_unit, groups 1, from 32
                altup_proj.1 = multiply altup_proj_unit.1, altup_proj_length
                blk.0
                    altup_router_norm_predict = rms_norm embd_scaled, altup_router_norm.weight [32, 1], eps 1.0E-5
                    altup_router_scaled_predict = scale altup_router_norm_predict, factor 0.03125
                    altup_router_predict = linear altup_router_scaled_predict, altup_router.weight [32, 3]
                    altup_router_act_predict = activate altup_router_predict, TANH
                    altup_predict_coef = linear altup_router_act_predict, altup_predict_coef.weight [3, 9]
                    altup_all.1 = join embd_scaled, altup_proj.0, groups 1
                    altup_all.2 = join altup_all.1, x, groups 1
                    altup_share.0 = slice altup_predict_coef, groups 1, from 0
                    altup_mixed.0 = weighted_sum altup_all.2, altup_share.0
                    altup_predicted.0 = add embd_scaled, altup_mixed.0
                    altup_share.1 = slice altup_predict_coef, groups 1, from 3
                    altup_mixed.1 = weighted_sum altup_all.2, altup_share.1
                    altup_predicted.1 = add altup_proj.0, altup_mixed.1
                    altup_share.2 = slice altup_predict_coef, groups 1, from 6
                    altup_mixed.2 = weighted_sum altup_all.2, altup_share.2
                    altup_predicted.2 = add x, altup_mixed.2
                    attn_norm = rms_norm altup_predicted.0, attn_norm.weight [32, 1], eps 1.0E-5
                    laurel_l = linear attn_norm, laurel_l.weight [32, 64]
                    laurel_r = linear laurel_l, laurel_r.weight [64, 32]
                    laurel_post_norm = rms_norm laurel_r, laurel_post_norm.weight [32, 1], eps 1.0E-5
                    laurel_out = add attn_norm, laurel_post_norm
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_v_norm = plain_rms_norm attn_v, groups 2, eps 1.0E-5
                    attn = attention q_rope, k_rope, attn_v_norm, heads 4/2, scale 1.0, window 16
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add altup_predicted.0, post_attention_norm
                    attn_both = add attn_residual, laurel_out
                    attn_out = scale attn_both, factor 0.70710677
                    ffn_norm = rms_norm attn_out, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_mean = group_mean ffn_gate, groups 1
                    ffn_minus_mean = scale ffn_mean, factor -1.0
                    ffn_centred = add ffn_gate, ffn_minus_mean
                    ffn_deviation_unit = plain_rms_norm ffn_centred, groups 1, eps 1.0E-30
                    ffn_deviation_squares = multiply ffn_centred, ffn_deviation_unit
                    ffn_deviation = group_mean ffn_deviation_squares, groups 1
                    ffn_least = scale ffn_deviation, factor -1.5158734
                    ffn_difference = add ffn_centred, ffn_least
                    ffn_above = activate ffn_difference, RELU
                    ffn_act = activate ffn_above, GELU_TANH
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_out, post_ffw_norm
                    altup_before = scale altup_predicted.0, factor -1.0
                    altup_change = add ffn_residual, altup_before
                    altup_router_norm_correct = rms_norm ffn_residual, altup_router_norm.weight [32, 1], eps 1.0E-5
                    altup_router_scaled_correct = scale altup_router_norm_correct, factor 0.03125
                    altup_router_correct = linear altup_router_scaled_correct, altup_router.weight [32, 3]
                    altup_router_act_correct = activate altup_router_correct, TANH
                    altup_correct_coef = linear altup_router_act_correct, altup_correct_coef.weight [3, 3]
                    altup_correction.0 = slice altup_correct_coef, groups 1, from 0
                    altup_more.0 = weighted_sum altup_change, altup_correction.0
                    altup_moved.0 = add altup_predicted.0, altup_change
                    altup_corrected.0 = add altup_moved.0, altup_more.0
                    altup_correction.1 = slice altup_correct_coef, groups 1, from 1
                    altup_more.1 = weighted_sum altup_change, altup_correction.1
                    altup_moved.1 = add altup_predicted.1, altup_change
                    altup_corrected.1 = add altup_moved.1, altup_more.1
                    altup_correction.2 = slice altup_correct_coef, groups 1, from 2
                    altup_more.2 = weighted_sum altup_change, altup_correction.2
                    altup_moved.2 = add altup_predicted.2, altup_change
                    altup_corrected.2 = add altup_moved.2, altup_more.2
                    altup_scale = repeat altup_correct_scale.weight [32, 1]
                    input = slice per_layer_inputs, groups 1, from 0
                    altup_first = multiply altup_corrected.0, altup_scale
                    inp_gate = linear altup_first, inp_gate.weight [32, 8]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [8, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    altup_out.1 = add altup_corrected.1, post_norm
                    altup_out.2 = add altup_corrected.2, post_norm
                blk.1
                    altup_router_norm_predict = rms_norm blk.0.altup_corrected.0, altup_router_norm.weight [32, 1], \
                eps 1.0E-5
                    altup_router_scaled_predict = scale altup_router_norm_predict, factor 0.03125
                    altup_router_predict = linear altup_router_scaled_predict, altup_router.weight [32, 3]
                    altup_router_act_predict = activate altup_router_predict, TANH
                    altup_predict_coef = linear altup_router_act_predict, altup_predict_coef.weight [3, 9]
                    altup_all.1 = join blk.0.altup_corrected.0, blk.0.altup_out.1, groups 1
                    altup_all.2 = join altup_all.1, x, groups 1
                    altup_share.0 = slice altup_predict_coef, groups 1, from 0
                    altup_mixed.0 = weighted_sum altup_all.2, altup_share.0
                    altup_predicted.0 = add blk.0.altup_corrected.0, altup_mixed.0
                    altup_share.1 = slice altup_predict_coef, groups 1, from 3
                    altup_mixed.1 = weighted_sum altup_all.2, altup_share.1
                    altup_predicted.1 = add blk.0.altup_out.1, altup_mixed.1
                    altup_share.2 = slice altup_predict_coef, groups 1, from 6
                    altup_mixed.2 = weighted_sum altup_all.2, altup_share.2
                    altup_predicted.2 = add x, altup_mixed.2
                    attn_norm = rms_norm altup_predicted.0, attn_norm.weight [32, 1], eps 1.0E-5
                    laurel_l = linear attn_norm, laurel_l.weight [32, 64]
                    laurel_r = linear laurel_l, laurel_r.weight [64, 32]
                    laurel_post_norm = rms_norm laurel_r, laurel_post_norm.weight [32, 1], eps 1.0E-5
                    laurel_out = add attn_norm, laurel_post_norm
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_v_norm = plain_rms_norm attn_v, groups 2, eps 1.0E-5
                    attn = attention q_rope, k_rope, attn_v_norm, heads 4/2, scale 1.0
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add altup_predicted.0, post_attention_norm
                    attn_both = add attn_residual, laurel_out
                    attn_out = scale attn_both, factor 0.70710677
                    ffn_norm = rms_norm attn_out, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_mean = group_mean ffn_gate, groups 1
                    ffn_minus_mean = scale ffn_mean, factor -1.0
                    ffn_centred = add ffn_gate, ffn_minus_mean
                    ffn_deviation_unit = plain_rms_norm ffn_centred, groups 1, eps 1.0E-30
                    ffn_deviation_squares = multiply ffn_centred, ffn_deviation_unit
                    ffn_deviation = group_mean ffn_deviation_squares, groups 1
                    ffn_least = scale ffn_deviation, factor -1.5158734
                    ffn_difference = add ffn_centred, ffn_least
                    ffn_above = activate ffn_difference, RELU
                    ffn_act = activate ffn_above, GELU_TANH
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_out, post_ffw_norm
                    altup_before = scale altup_predicted.0, factor -1.0
                    altup_change = add ffn_residual, altup_before
                    altup_router_norm_correct = rms_norm ffn_residual, altup_router_norm.weight [32, 1], eps 1.0E-5
                    altup_router_scaled_correct = scale altup_router_norm_correct, factor 0.03125
                    altup_router_correct = linear altup_router_scaled_correct, altup_router.weight [32, 3]
                    altup_router_act_correct = activate altup_router_correct, TANH
                    altup_correct_coef = linear altup_router_act_correct, altup_correct_coef.weight [3, 3]
                    altup_correction.0 = slice altup_correct_coef, groups 1, from 0
                    altup_more.0 = weighted_sum altup_change, altup_correction.0
                    altup_moved.0 = add altup_predicted.0, altup_change
                    altup_corrected.0 = add altup_moved.0, altup_more.0
                    altup_correction.1 = slice altup_correct_coef, groups 1, from 1
                    altup_more.1 = weighted_sum altup_change, altup_correction.1
                    altup_moved.1 = add altup_predicted.1, altup_change
                    altup_corrected.1 = add altup_moved.1, altup_more.1
                    altup_correction.2 = slice altup_correct_coef, groups 1, from 2
                    altup_more.2 = weighted_sum altup_change, altup_correction.2
                    altup_moved.2 = add altup_predicted.2, altup_change
                    altup_corrected.2 = add altup_moved.2, altup_more.2
                    altup_scale = repeat altup_correct_scale.weight [32, 1]
                    input = slice per_layer_inputs, groups 1, from 8
                    altup_first = multiply altup_corrected.0, altup_scale
                    inp_gate = linear altup_first, inp_gate.weight [32, 8]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [8, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    altup_out.1 = add altup_corrected.1, post_norm
                    altup_out.2 = add altup_corrected.2, post_norm
                blk.2
                    altup_router_norm_predict = rms_norm blk.1.altup_corrected.0, altup_router_norm.weight [32, 1], \
                eps 1.0E-5
                    altup_router_scaled_predict = scale altup_router_norm_predict, factor 0.03125
                    altup_router_predict = linear altup_router_scaled_predict, altup_router.weight [32, 3]
                    altup_router_act_predict = activate altup_router_predict, TANH
                    altup_predict_coef = linear altup_router_act_predict, altup_predict_coef.weight [3, 9]
                    altup_all.1 = join blk.1.altup_corrected.0, blk.1.altup_out.1, groups 1
                    altup_all.2 = join altup_all.1, x, groups 1
                    altup_share.0 = slice altup_predict_coef, groups 1, from 0
                    altup_mixed.0 = weighted_sum altup_all.2, altup_share.0
                    altup_predicted.0 = add blk.1.altup_corrected.0, altup_mixed.0
                    altup_share.1 = slice altup_predict_coef, groups 1, from 3
                    altup_mixed.1 = weighted_sum altup_all.2, altup_share.1
                    altup_predicted.1 = add blk.1.altup_out.1, altup_mixed.1
                    altup_share.2 = slice altup_predict_coef, groups 1, from 6
                    altup_mixed.2 = weighted_sum altup_all.2, altup_share.2
                    altup_predicted.2 = add x, altup_mixed.2
                    attn_norm = rms_norm altup_predicted.0, attn_norm.weight [32, 1], eps 1.0E-5
                    laurel_l = linear attn_norm, laurel_l.weight [32, 64]
                    laurel_r = linear laurel_l, laurel_r.weight [64, 32]
                    laurel_post_norm = rms_norm laurel_r, laurel_post_norm.weight [32, 1], eps 1.0E-5
                    laurel_out = add attn_norm, laurel_post_norm
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn = attention q_rope, blk.0.k_rope, blk.0.attn_v_norm, layer 0, heads 4/2, scale 1.0, window 16
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add altup_predicted.0, post_attention_norm
                    attn_both = add attn_residual, laurel_out
                    attn_out = scale attn_both, factor 0.70710677
                    ffn_norm = rms_norm attn_out, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_mean = group_mean ffn_gate, groups 1
                    ffn_minus_mean = scale ffn_mean, factor -1.0
                    ffn_centred = add ffn_gate, ffn_minus_mean
                    ffn_deviation_unit = plain_rms_norm ffn_centred, groups 1, eps 1.0E-30
                    ffn_deviation_squares = multiply ffn_centred, ffn_deviation_unit
                    ffn_deviation = group_mean ffn_deviation_squares, groups 1
                    ffn_least = scale ffn_deviation, factor -1.5158734
                    ffn_difference = add ffn_centred, ffn_least
                    ffn_above = activate ffn_difference, RELU
                    ffn_act = activate ffn_above, GELU_TANH
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_out, post_ffw_norm
                    altup_before = scale altup_predicted.0, factor -1.0
                    altup_change = add ffn_residual, altup_before
                    altup_router_norm_correct = rms_norm ffn_residual, altup_router_norm.weight [32, 1], eps 1.0E-5
                    altup_router_scaled_correct = scale altup_router_norm_correct, factor 0.03125
                    altup_router_correct = linear altup_router_scaled_correct, altup_router.weight [32, 3]
                    altup_router_act_correct = activate altup_router_correct, TANH
                    altup_correct_coef = linear altup_router_act_correct, altup_correct_coef.weight [3, 3]
                    altup_correction.0 = slice altup_correct_coef, groups 1, from 0
                    altup_more.0 = weighted_sum altup_change, altup_correction.0
                    altup_moved.0 = add altup_predicted.0, altup_change
                    altup_corrected.0 = add altup_moved.0, altup_more.0
                    altup_correction.1 = slice altup_correct_coef, groups 1, from 1
                    altup_more.1 = weighted_sum altup_change, altup_correction.1
                    altup_moved.1 = add altup_predicted.1, altup_change
                    altup_corrected.1 = add altup_moved.1, altup_more.1
                    altup_correction.2 = slice altup_correct_coef, groups 1, from 2
                    altup_more.2 = weighted_sum altup_change, altup_correction.2
                    altup_moved.2 = add altup_predicted.2, altup_change
                    altup_corrected.2 = add altup_moved.2, altup_more.2
                    altup_scale = repeat altup_correct_scale.weight [32, 1]
                    input = slice per_layer_inputs, groups 1, from 16
                    altup_first = multiply altup_corrected.0, altup_scale
                    inp_gate = linear altup_first, inp_gate.weight [32, 8]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [8, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    altup_out.1 = add altup_corrected.1, post_norm
                    altup_out.2 = add altup_corrected.2, post_norm
                blk.3
                    altup_router_norm_predict = rms_norm blk.2.altup_corrected.0, altup_router_norm.weight [32, 1], \
                eps 1.0E-5
                    altup_router_scaled_predict = scale altup_router_norm_predict, factor 0.03125
                    altup_router_predict = linear altup_router_scaled_predict, altup_router.weight [32, 3]
                    altup_router_act_predict = activate altup_router_predict, TANH
                    altup_predict_coef = linear altup_router_act_predict, altup_predict_coef.weight [3, 9]
                    altup_all.1 = join blk.2.altup_corrected.0, blk.2.altup_out.1, groups 1
                    altup_all.2 = join altup_all.1, x, groups 1
                    altup_share.0 = slice altup_predict_coef, groups 1, from 0
                    altup_mixed.0 = weighted_sum altup_all.2, altup_share.0
                    altup_predicted.0 = add blk.2.altup_corrected.0, altup_mixed.0
                    altup_share.1 = slice altup_predict_coef, groups 1, from 3
                    altup_mixed.1 = weighted_sum altup_all.2, altup_share.1
                    altup_predicted.1 = add blk.2.altup_out.1, altup_mixed.1
                    altup_share.2 = slice altup_predict_coef, groups 1, from 6
                    altup_mixed.2 = weighted_sum altup_all.2, altup_share.2
                    altup_predicted.2 = add x, altup_mixed.2
                    attn_norm = rms_norm altup_predicted.0, attn_norm.weight [32, 1], eps 1.0E-5
                    laurel_l = linear attn_norm, laurel_l.weight [32, 64]
                    laurel_r = linear laurel_l, laurel_r.weight [64, 32]
                    laurel_post_norm = rms_norm laurel_r, laurel_post_norm.weight [32, 1], eps 1.0E-5
                    laurel_out = add attn_norm, laurel_post_norm
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn = attention q_rope, blk.1.k_rope, blk.1.attn_v_norm, layer 1, heads 4/2, scale 1.0
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add altup_predicted.0, post_attention_norm
                    attn_both = add attn_residual, laurel_out
                    attn_out = scale attn_both, factor 0.70710677
                    ffn_norm = rms_norm attn_out, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_mean = group_mean ffn_gate, groups 1
                    ffn_minus_mean = scale ffn_mean, factor -1.0
                    ffn_centred = add ffn_gate, ffn_minus_mean
                    ffn_deviation_unit = plain_rms_norm ffn_centred, groups 1, eps 1.0E-30
                    ffn_deviation_squares = multiply ffn_centred, ffn_deviation_unit
                    ffn_deviation = group_mean ffn_deviation_squares, groups 1
                    ffn_least = scale ffn_deviation, factor -1.5158734
                    ffn_difference = add ffn_centred, ffn_least
                    ffn_above = activate ffn_difference, RELU
                    ffn_act = activate ffn_above, GELU_TANH
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_out, post_ffw_norm
                    altup_before = scale altup_predicted.0, factor -1.0
                    altup_change = add ffn_residual, altup_before
                    altup_router_norm_correct = rms_norm ffn_residual, altup_router_norm.weight [32, 1], eps 1.0E-5
                    altup_router_scaled_correct = scale altup_router_norm_correct, factor 0.03125
                    altup_router_correct = linear altup_router_scaled_correct, altup_router.weight [32, 3]
                    altup_router_act_correct = activate altup_router_correct, TANH
                    altup_correct_coef = linear altup_router_act_correct, altup_correct_coef.weight [3, 3]
                    altup_correction.0 = slice altup_correct_coef, groups 1, from 0
                    altup_more.0 = weighted_sum altup_change, altup_correction.0
                    altup_moved.0 = add altup_predicted.0, altup_change
                    altup_corrected.0 = add altup_moved.0, altup_more.0
                    altup_correction.1 = slice altup_correct_coef, groups 1, from 1
                    altup_more.1 = weighted_sum altup_change, altup_correction.1
                    altup_moved.1 = add altup_predicted.1, altup_change
                    altup_corrected.1 = add altup_moved.1, altup_more.1
                    altup_correction.2 = slice altup_correct_coef, groups 1, from 2
                    altup_more.2 = weighted_sum altup_change, altup_correction.2
                    altup_moved.2 = add altup_predicted.2, altup_change
                    altup_corrected.2 = add altup_moved.2, altup_more.2
                    altup_scale = repeat altup_correct_scale.weight [32, 1]
                    input = slice per_layer_inputs, groups 1, from 24
                    altup_first = multiply altup_corrected.0, altup_scale
                    inp_gate = linear altup_first, inp_gate.weight [32, 8]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [8, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    altup_out.1 = add altup_corrected.1, post_norm
                    altup_out.2 = add altup_corrected.2, post_norm
                altup_last.2 = join blk.3.altup_out.1, blk.3.altup_out.2, groups 1
                altup_unembd_proj = head_linear altup_last.2, altup_unembd_proj.weight [32, 32, 2]
                altup_unembd_proj_unit = plain_rms_norm altup_unembd_proj, groups 2, eps 1.0E-30
                altup_unembd_proj_length_unit = plain_rms_norm blk.3.altup_corrected.0, groups 1, eps 1.0E-30
                altup_unembd_proj_length_squares = multiply blk.3.altup_corrected.0, altup_unembd_proj_length_unit
                altup_unembd_proj_length = group_mean altup_unembd_proj_length_squares, groups 1
                altup_unembd_proj_unit.0 = slice altup_unembd_proj_unit, groups 1, from 0
                altup_unembd_proj.0 = multiply altup_unembd_proj_unit.0, altup_unembd_proj_length
                altup_unembd_proj_unit.1 = slice altup_unembd_proj_unit, groups 1, from 32
                altup_unembd_proj.1 = multiply altup_unembd_proj_unit.1, altup_unembd_proj_length
                altup_unembd_proj.0_sum = add blk.3.altup_corrected.0, altup_unembd_proj.0
                altup_unembd_proj.1_sum = add altup_unembd_proj.0_sum, altup_unembd_proj.1
                altup_mean = scale altup_unembd_proj.1_sum, factor 0.33333334
                selected = select_rows altup_mean
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                logits_capped = soft_cap logits, cap 30.0
                output logits_capped, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("altup.active_idx", 1), ErrorCode.MODEL_ARCHITECTURE, "gemma3n.altup.active_idx");
        refused(
                tiny().key("activation_sparsity_scale", -1f),
                ErrorCode.MODEL_KEY_VALUE,
                "gemma3n.activation_sparsity_scale");
    }

    @Test
    void whatLayersThatShareHaveIsLeftOverAndNothingElse() {
        ModelSource source = tiny().source();
        assertTrue(architecture().ignores(source, "blk.2.attn_k.weight"));
        assertFalse(architecture().ignores(source, "blk.1.attn_v.weight"));
    }
}
