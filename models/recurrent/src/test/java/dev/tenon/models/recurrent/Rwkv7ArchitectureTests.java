package dev.tenon.models.recurrent;

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

class Rwkv7ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Rwkv7Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("rwkv7")
                .without("attention.head_count")
                .without("attention.head_count_kv")
                .without("attention.layer_norm_rms_epsilon")
                .key("attention.layer_norm_epsilon", 1e-5f)
                .key("wkv.head_size", 8)
                .key("attention.decay_lora_rank", 4)
                .key("attention.iclr_lora_rank", 5)
                .key("attention.value_residual_mix_lora_rank", 3)
                .key("attention.gate_lora_rank", 6)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("output_norm.bias", 32)
                .tensor("token_embd_norm.weight", 32)
                .tensor("token_embd_norm.bias", 32)
                .each("attn_norm.weight", 32)
                .each("attn_norm.bias", 32)
                .each("attn_norm_2.weight", 32)
                .each("attn_norm_2.bias", 32)
                .each("time_mix_w0.weight", 32)
                .each("time_mix_w1.weight", 32, 4)
                .each("time_mix_w2.weight", 4, 32)
                .each("time_mix_a0.weight", 32)
                .each("time_mix_a1.weight", 32, 5)
                .each("time_mix_a2.weight", 5, 32)
                .each("time_mix_v0.weight", 32)
                .each("time_mix_v1.weight", 32, 3)
                .each("time_mix_v2.weight", 3, 32)
                .each("time_mix_g1.weight", 32, 6)
                .each("time_mix_g2.weight", 6, 32)
                .each("time_mix_lerp_fused.weight", 32, 1, 1, 6)
                .each("time_mix_k_k.weight", 32)
                .each("time_mix_k_a.weight", 32)
                .each("time_mix_r_k.weight", 32)
                .each("time_mix_ln.weight", 32)
                .each("time_mix_ln.bias", 32)
                .each("time_mix_key.weight", 32, 32)
                .each("time_mix_value.weight", 32, 32)
                .each("time_mix_receptance.weight", 32, 32)
                .each("time_mix_output.weight", 32, 32)
                .each("channel_mix_lerp_k.weight", 32)
                .each("channel_mix_key.weight", 32, 48)
                .each("channel_mix_value.weight", 48, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "feed_forward_length",
                "wkv.head_size",
                "attention.decay_lora_rank",
                "attention.iclr_lora_rank",
                "attention.value_residual_mix_lora_rank",
                "attention.gate_lora_rank");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return ModelConfig.builder("rwkv7")
                .contextLength(128)
                .embeddingLength(32)
                .blockCount(2)
                .feedForwardLength(48)
                .vocabularySize(67)
                .build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                token_embd_norm = layer_norm embd, token_embd_norm.weight [32, 1], token_embd_norm.bias [32, 1], \
                eps 1.0E-5
                blk.0
                    attn_norm = layer_norm x, attn_norm.weight [32, 1], attn_norm.bias [32, 1], eps 1.0E-5
                    time_mix_lerp_fused = token_shift attn_norm, time_mix_lerp_fused.weight [32, 6]
                    mixed.0 = slice time_mix_lerp_fused, groups 1, from 0
                    mixed.1 = slice time_mix_lerp_fused, groups 1, from 32
                    mixed.2 = slice time_mix_lerp_fused, groups 1, from 64
                    mixed.3 = slice time_mix_lerp_fused, groups 1, from 96
                    mixed.4 = slice time_mix_lerp_fused, groups 1, from 128
                    mixed.5 = slice time_mix_lerp_fused, groups 1, from 160
                    time_mix_receptance = linear mixed.0, time_mix_receptance.weight [32, 32]
                    time_mix_w1 = linear mixed.1, time_mix_w1.weight [32, 4]
                    time_mix_w_act = activate time_mix_w1, TANH
                    time_mix_w2 = linear time_mix_w_act, time_mix_w2.weight [4, 32]
                    time_mix_w0.weight = repeat time_mix_w0.weight [32, 1]
                    time_mix_w0.weight_plus = add time_mix_w2, time_mix_w0.weight
                    time_mix_decay = activate time_mix_w0.weight_plus, SIGMOID
                    time_mix_log_decay = scale time_mix_decay, factor -0.606531
                    time_mix_key = linear mixed.2, time_mix_key.weight [32, 32]
                    time_mix_value = linear mixed.3, time_mix_value.weight [32, 32]
                    time_mix_a1 = linear mixed.4, time_mix_a1.weight [32, 5]
                    time_mix_a2 = linear time_mix_a1, time_mix_a2.weight [5, 32]
                    time_mix_a0.weight = repeat time_mix_a0.weight [32, 1]
                    time_mix_a0.weight_plus = add time_mix_a2, time_mix_a0.weight
                    time_mix_rate = activate time_mix_a0.weight_plus, SIGMOID
                    time_mix_k_k = repeat time_mix_k_k.weight [32, 1]
                    time_mix_k_k_times = multiply time_mix_key, time_mix_k_k
                    time_mix_unit = plain_rms_norm time_mix_k_k_times, groups 4, eps 1.0E-24
                    time_mix_remove = scale time_mix_unit, factor 0.35355338
                    time_mix_k_a = repeat time_mix_k_a.weight [32, 1]
                    time_mix_k_a_times = multiply time_mix_key, time_mix_k_a
                    time_mix_less = scale time_mix_k_a_times, factor -1.0
                    time_mix_k_less = add time_mix_key, time_mix_less
                    time_mix_k_more = multiply time_mix_k_a_times, time_mix_rate
                    time_mix_k = add time_mix_k_less, time_mix_k_more
                    time_mix_rk = join time_mix_receptance, time_mix_k, groups 1
                    time_mix_rkv = join time_mix_rk, time_mix_value, groups 1
                    time_mix_add = multiply time_mix_remove, time_mix_rate
                    time_mix_replaced = replacement_rule time_mix_rkv, time_mix_log_decay, time_mix_remove, \
                time_mix_add, heads 4
                    time_mix_mean = group_mean time_mix_replaced, groups 4
                    time_mix_minus_mean = scale time_mix_mean, factor -1.0
                    time_mix_centred = add time_mix_replaced, time_mix_minus_mean
                    time_mix_normed = plain_rms_norm time_mix_centred, groups 4, eps 6.4E-4
                    time_mix_ln = repeat time_mix_ln.weight [32, 1]
                    time_mix_ln_times = multiply time_mix_normed, time_mix_ln
                    time_mix_ln.bias = repeat time_mix_ln.bias [32, 1]
                    time_mix_ln.bias_plus = add time_mix_ln_times, time_mix_ln.bias
                    time_mix_rk_products = multiply time_mix_receptance, time_mix_k
                    time_mix_r_k = repeat time_mix_r_k.weight [32, 1]
                    time_mix_r_k_times = multiply time_mix_rk_products, time_mix_r_k
                    time_mix_bonus_mean = group_mean time_mix_r_k_times, groups 4
                    time_mix_bonus = scale time_mix_bonus_mean, factor 8.0
                    time_mix_bonus_values = multiply time_mix_bonus, time_mix_value
                    time_mix_with_bonus = add time_mix_ln.bias_plus, time_mix_bonus_values
                    time_mix_g1 = linear mixed.5, time_mix_g1.weight [32, 6]
                    time_mix_open = activate time_mix_g1, SIGMOID
                    time_mix_g2 = linear time_mix_open, time_mix_g2.weight [6, 32]
                    time_mix_gated = multiply time_mix_with_bonus, time_mix_g2
                    time_mix_output = linear time_mix_gated, time_mix_output.weight [32, 32]
                    time_residual = add x, time_mix_output
                    attn_norm_2 = layer_norm time_residual, attn_norm_2.weight [32, 1], attn_norm_2.bias [32, 1], \
                eps 1.0E-5
                    channel_mix_lerp_k = token_shift attn_norm_2, channel_mix_lerp_k.weight [32, 1]
                    channel_mix_key = linear channel_mix_lerp_k, channel_mix_key.weight [32, 48]
                    channel_mix_act = activate channel_mix_key, RELU_SQUARED
                    channel_mix_value = linear channel_mix_act, channel_mix_value.weight [48, 32]
                    channel_residual = add time_residual, channel_mix_value
                blk.1
                    attn_norm = layer_norm x, attn_norm.weight [32, 1], attn_norm.bias [32, 1], eps 1.0E-5
                    time_mix_lerp_fused = token_shift attn_norm, time_mix_lerp_fused.weight [32, 6]
                    mixed.0 = slice time_mix_lerp_fused, groups 1, from 0
                    mixed.1 = slice time_mix_lerp_fused, groups 1, from 32
                    mixed.2 = slice time_mix_lerp_fused, groups 1, from 64
                    mixed.3 = slice time_mix_lerp_fused, groups 1, from 96
                    mixed.4 = slice time_mix_lerp_fused, groups 1, from 128
                    mixed.5 = slice time_mix_lerp_fused, groups 1, from 160
                    time_mix_receptance = linear mixed.0, time_mix_receptance.weight [32, 32]
                    time_mix_w1 = linear mixed.1, time_mix_w1.weight [32, 4]
                    time_mix_w_act = activate time_mix_w1, TANH
                    time_mix_w2 = linear time_mix_w_act, time_mix_w2.weight [4, 32]
                    time_mix_w0.weight = repeat time_mix_w0.weight [32, 1]
                    time_mix_w0.weight_plus = add time_mix_w2, time_mix_w0.weight
                    time_mix_decay = activate time_mix_w0.weight_plus, SIGMOID
                    time_mix_log_decay = scale time_mix_decay, factor -0.606531
                    time_mix_key = linear mixed.2, time_mix_key.weight [32, 32]
                    time_mix_value = linear mixed.3, time_mix_value.weight [32, 32]
                    time_mix_v1 = linear mixed.3, time_mix_v1.weight [32, 3]
                    time_mix_v2 = linear time_mix_v1, time_mix_v2.weight [3, 32]
                    time_mix_v0.weight = repeat time_mix_v0.weight [32, 1]
                    time_mix_v0.weight_plus = add time_mix_v2, time_mix_v0.weight
                    time_mix_share = activate time_mix_v0.weight_plus, SIGMOID
                    time_mix_minus_v = scale time_mix_value, factor -1.0
                    time_mix_away = add blk.0.time_mix_value, time_mix_minus_v
                    time_mix_towards = multiply time_mix_away, time_mix_share
                    time_mix_v = add time_mix_value, time_mix_towards
                    time_mix_a1 = linear mixed.4, time_mix_a1.weight [32, 5]
                    time_mix_a2 = linear time_mix_a1, time_mix_a2.weight [5, 32]
                    time_mix_a0.weight = repeat time_mix_a0.weight [32, 1]
                    time_mix_a0.weight_plus = add time_mix_a2, time_mix_a0.weight
                    time_mix_rate = activate time_mix_a0.weight_plus, SIGMOID
                    time_mix_k_k = repeat time_mix_k_k.weight [32, 1]
                    time_mix_k_k_times = multiply time_mix_key, time_mix_k_k
                    time_mix_unit = plain_rms_norm time_mix_k_k_times, groups 4, eps 1.0E-24
                    time_mix_remove = scale time_mix_unit, factor 0.35355338
                    time_mix_k_a = repeat time_mix_k_a.weight [32, 1]
                    time_mix_k_a_times = multiply time_mix_key, time_mix_k_a
                    time_mix_less = scale time_mix_k_a_times, factor -1.0
                    time_mix_k_less = add time_mix_key, time_mix_less
                    time_mix_k_more = multiply time_mix_k_a_times, time_mix_rate
                    time_mix_k = add time_mix_k_less, time_mix_k_more
                    time_mix_rk = join time_mix_receptance, time_mix_k, groups 1
                    time_mix_rkv = join time_mix_rk, time_mix_v, groups 1
                    time_mix_add = multiply time_mix_remove, time_mix_rate
                    time_mix_replaced = replacement_rule time_mix_rkv, time_mix_log_decay, time_mix_remove, \
                time_mix_add, heads 4
                    time_mix_mean = group_mean time_mix_replaced, groups 4
                    time_mix_minus_mean = scale time_mix_mean, factor -1.0
                    time_mix_centred = add time_mix_replaced, time_mix_minus_mean
                    time_mix_normed = plain_rms_norm time_mix_centred, groups 4, eps 6.4E-4
                    time_mix_ln = repeat time_mix_ln.weight [32, 1]
                    time_mix_ln_times = multiply time_mix_normed, time_mix_ln
                    time_mix_ln.bias = repeat time_mix_ln.bias [32, 1]
                    time_mix_ln.bias_plus = add time_mix_ln_times, time_mix_ln.bias
                    time_mix_rk_products = multiply time_mix_receptance, time_mix_k
                    time_mix_r_k = repeat time_mix_r_k.weight [32, 1]
                    time_mix_r_k_times = multiply time_mix_rk_products, time_mix_r_k
                    time_mix_bonus_mean = group_mean time_mix_r_k_times, groups 4
                    time_mix_bonus = scale time_mix_bonus_mean, factor 8.0
                    time_mix_bonus_values = multiply time_mix_bonus, time_mix_v
                    time_mix_with_bonus = add time_mix_ln.bias_plus, time_mix_bonus_values
                    time_mix_g1 = linear mixed.5, time_mix_g1.weight [32, 6]
                    time_mix_open = activate time_mix_g1, SIGMOID
                    time_mix_g2 = linear time_mix_open, time_mix_g2.weight [6, 32]
                    time_mix_gated = multiply time_mix_with_bonus, time_mix_g2
                    time_mix_output = linear time_mix_gated, time_mix_output.weight [32, 32]
                    time_residual = add x, time_mix_output
                    attn_norm_2 = layer_norm time_residual, attn_norm_2.weight [32, 1], attn_norm_2.bias [32, 1], \
                eps 1.0E-5
                    channel_mix_lerp_k = token_shift attn_norm_2, channel_mix_lerp_k.weight [32, 1]
                    channel_mix_key = linear channel_mix_lerp_k, channel_mix_key.weight [32, 48]
                    channel_mix_act = activate channel_mix_key, RELU_SQUARED
                    channel_mix_value = linear channel_mix_act, channel_mix_value.weight [48, 32]
                    channel_residual = add time_residual, channel_mix_value
                selected = select_rows blk.1.channel_residual
                output_norm = layer_norm selected, output_norm.weight [32, 1], output_norm.bias [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("wkv.head_size", 5), ErrorCode.MODEL_KEY_VALUE, "rwkv7.wkv.head_size");
    }

    @Test
    void whatTheFirstLayerHasForValuesIsLeftOverAndNothingElse() {
        ModelSource source = tiny().source();
        assertTrue(architecture().ignores(source, "blk.0.time_mix_v1.weight"));
        assertFalse(architecture().ignores(source, "blk.1.time_mix_v1.weight"));
    }
}
