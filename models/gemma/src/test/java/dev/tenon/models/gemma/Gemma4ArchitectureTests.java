package dev.tenon.models.gemma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The small models: a second table of embeddings, layers that share keys and values.
class Gemma4ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Gemma4Architecture();
    }

    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource("gemma4")
                .key("block_count", 4)
                .key("feed_forward_length", new long[] {48, 48, 96, 96})
                .key("attention.head_count_kv", new long[] {2, 1, 2, 1})
                .key("attention.key_length", 16)
                .key("attention.value_length", 16)
                .key("attention.key_length_swa", 8)
                .key("attention.value_length_swa", 8)
                .key("attention.sliding_window", 5)
                .key("attention.sliding_window_pattern", new boolean[] {true, false, true, false})
                .key("attention.shared_kv_layers", 2)
                .key("embedding_length_per_layer_input", 6)
                .key("final_logit_softcapping", 30f)
                .tensor("rope_freqs.weight", 8)
                .tensor("per_layer_token_embd.weight", 24, 67)
                .tensor("per_layer_model_proj.weight", 32, 24)
                .tensor("per_layer_proj_norm.weight", 6)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("post_attention_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .each("post_ffw_norm.weight", 32)
                .each("inp_gate.weight", 32, 6)
                .each("proj.weight", 6, 32)
                .each("post_norm.weight", 32)
                .each("layer_output_scale.weight", 1);
        for (int layer = 0; layer < 4; layer++) {
            String blk = "blk." + layer + ".";
            int head = layer % 2 == 0 ? 8 : 16;
            int width = layer < 2 ? 48 : 96;
            tiny.tensor(blk + "attn_q.weight", 32, 4 * head)
                    .tensor(blk + "attn_q_norm.weight", head)
                    .tensor(blk + "attn_output.weight", 4 * head, 32)
                    .tensor(blk + "ffn_gate.weight", 32, width)
                    .tensor(blk + "ffn_up.weight", 32, width)
                    .tensor(blk + "ffn_down.weight", width, 32);
            if (layer < 2) {
                tiny.tensor(blk + "attn_k.weight", 32, 16)
                        .tensor(blk + "attn_k_norm.weight", head)
                        .tensor(blk + "attn_v.weight", 32, 16);
            }
        }
        return tiny;
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected boolean layersHaveHeadsOfTheirOwn() {
        return true;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "feed_forward_length",
                "attention.head_count_kv",
                "attention.sliding_window",
                "attention.sliding_window_pattern");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning()
                .blockCount(4)
                .feedForwardLength(96)
                .keyLength(16)
                .valueLength(16)
                .ropeDim(16)
                .ropeFreqBase(1_000_000)
                .build();
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
                embd_scaled = scale embd, factor 5.656854
                per_layer_model_proj = linear embd_scaled, per_layer_model_proj.weight [32, 24]
                per_layer_proj_scaled = scale per_layer_model_proj, factor 0.17677669
                per_layer_proj_norm = rms_norm per_layer_proj_scaled, per_layer_proj_norm.weight [6, 1], eps 1.0E-5
                per_layer_embd = embedding per_layer_token_embd.weight [24, 67]
                per_layer_embd_scaled = scale per_layer_embd, factor 2.4494898
                per_layer_sum = add per_layer_proj_norm, per_layer_embd_scaled
                per_layer_inputs = scale per_layer_sum, factor 0.70710677
                blk.0
                    attn_norm = rms_norm embd_scaled, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_v_norm = plain_rms_norm attn_v, groups 2, eps 1.0E-5
                    attn = attention q_rope, k_rope, attn_v_norm, heads 4/2, scale 1.0, window 5
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add embd_scaled, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                    input = slice x, groups 1, from 0
                    inp_gate = linear ffn_residual, inp_gate.weight [32, 6]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [6, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    input_residual = add ffn_residual, post_norm
                    layer_output_scale = repeat layer_output_scale.weight [1, 1]
                    layer_out = weighted_sum input_residual, layer_output_scale
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 64]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [16, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 16, rope_freqs.weight [8, 1]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [16, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, heads of 16, rope_freqs.weight [8, 1]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_v_norm = plain_rms_norm attn_v, groups 1, eps 1.0E-5
                    attn = attention q_rope, k_rope, attn_v_norm, heads 4/1, scale 1.0
                    attn_output = linear attn, attn_output.weight [64, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                    input = slice per_layer_inputs, groups 1, from 6
                    inp_gate = linear ffn_residual, inp_gate.weight [32, 6]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [6, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    input_residual = add ffn_residual, post_norm
                    layer_output_scale = repeat layer_output_scale.weight [1, 1]
                    layer_out = weighted_sum input_residual, layer_output_scale
                blk.2
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn = attention q_rope, blk.0.k_rope, blk.0.attn_v_norm, layer 0, heads 4/2, scale 1.0, window 5
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 96]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 96]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [96, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                    input = slice per_layer_inputs, groups 1, from 12
                    inp_gate = linear ffn_residual, inp_gate.weight [32, 6]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [6, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    input_residual = add ffn_residual, post_norm
                    layer_output_scale = repeat layer_output_scale.weight [1, 1]
                    layer_out = weighted_sum input_residual, layer_output_scale
                blk.3
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 64]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [16, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 16, rope_freqs.weight [8, 1]
                    attn = attention q_rope, blk.1.k_rope, blk.1.attn_v_norm, layer 1, heads 4/1, scale 1.0
                    attn_output = linear attn, attn_output.weight [64, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 96]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 96]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [96, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                    input = slice per_layer_inputs, groups 1, from 18
                    inp_gate = linear ffn_residual, inp_gate.weight [32, 6]
                    inp_act = activate inp_gate, GELU_TANH
                    inp_gated = multiply inp_act, input
                    proj = linear inp_gated, proj.weight [6, 32]
                    post_norm = rms_norm proj, post_norm.weight [32, 1], eps 1.0E-5
                    input_residual = add ffn_residual, post_norm
                    layer_output_scale = repeat layer_output_scale.weight [1, 1]
                    layer_out = weighted_sum input_residual, layer_output_scale
                selected = select_rows blk.3.layer_out
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                logits_capped = soft_cap logits, cap 30.0
                output logits_capped, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    private List<String> keysOfLayers(TinySource tiny) {
        Graph graph = tiny.graph(architecture());
        return graph.ops().stream()
                .filter(CoreOp.Attention.class::isInstance)
                .map(op -> ((CoreOp.Attention) op).k().name())
                .toList();
    }

    @Test
    void layersWithoutKeysReadThoseOfTheLastLayerOfTheirKind() {
        assertEquals(List.of("blk.0.k_rope", "blk.1.k_rope", "blk.0.k_rope", "blk.1.k_rope"), keysOfLayers(tiny()));
        TinySource windows = tiny().key("attention.sliding_window_pattern", new boolean[] {true, true, true, true});
        assertEquals(List.of("blk.0.k_rope", "blk.1.k_rope", "blk.1.k_rope", "blk.1.k_rope"), keysOfLayers(windows));
    }

    @Test
    void valuesThatAFileLeavesOutAreTheKeysAsProjected() {
        TinySource shared = tiny().withoutTensor("blk.1.attn_v.weight");
        String listing = GraphListing.of(shared.graph(architecture()));
        assertTrue(listing.contains("attn_v_norm = plain_rms_norm attn_k, groups 1"), listing);
        TinySource window = tiny().withoutTensor("blk.0.attn_v.weight");
        assertTrue(
                GraphListing.of(window.graph(architecture())).contains("attn_v = linear attn_norm, attn_v.weight"),
                "a layer with a window has values of its own");
    }

    @Test
    void withoutASecondTableLayersHaveOneInput() {
        TinySource plain = tiny().key("embedding_length_per_layer_input", 0);
        String listing = GraphListing.of(plain.graph(architecture()));
        assertFalse(listing.contains("per_layer") || listing.contains("inp_gate"), listing);
    }

    @Test
    void numbersThatCannotBeAreRefused() {
        refused(
                tiny().key("attention.sliding_window_pattern", new boolean[] {true, true, true, false}),
                ErrorCode.MODEL_KEY_VALUE,
                "gemma4.attention.shared_kv_layers");
        refused(tiny().key("attention.shared_kv_layers", 4), ErrorCode.MODEL_KEY_VALUE, "shared_kv_layers");
        refused(tiny().key("rope.dimension_count_swa", 7), ErrorCode.MODEL_KEY_VALUE, "an even number, 2 to 8");
        refused(tiny().key("attention.key_length_swa", 32), ErrorCode.MODEL_KEY_VALUE, "key_length_swa");
        refused(
                tiny().key("attention.head_count_kv", new long[] {2, 0, 2, 1}),
                ErrorCode.MODEL_KEY_VALUE,
                "0 for layer 1");
        refused(tiny().key("attention.sliding_window_pattern", 2), ErrorCode.MODEL_KEY_VALUE, "an array of booleans");
    }
}
