package dev.tenon.models.bert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import org.junit.jupiter.api.Test;

/// The graphs of encoders that came after BERT and nomic-bert, and what they refuse.
class MoreEncodersTests {
    private static final ModelArchitecture JINA2 = new JinaBertV2Architecture();
    private static final ModelArchitecture JINA3 = new JinaBertV3Architecture();
    private static final ModelArchitecture NOMIC = new NomicBertMoeArchitecture();
    private static final ModelArchitecture EURO = new EuroBertArchitecture();
    private static final ModelArchitecture T5 = new T5EncoderArchitecture();

    /// {@return keys and tensors of a tiny model}
    static TinySource tiny(String id) {
        return switch (id) {
            case "jina-bert-v2" ->
                bert(id).each("attn_q.weight", 32, 32)
                        .each("attn_q.bias", 32)
                        .each("attn_k.weight", 32, 32)
                        .each("attn_k.bias", 32)
                        .each("attn_v.weight", 32, 32)
                        .each("attn_v.bias", 32)
                        .each("ffn_gate.weight", 32, 48)
                        .each("ffn_up.weight", 32, 48)
                        .each("ffn_down.weight", 48, 32)
                        .each("ffn_down.bias", 32);
            case "jina-bert-v3" ->
                fused(id)
                        .each("ffn_up.weight", 32, 48)
                        .each("ffn_up.bias", 48)
                        .each("ffn_down.weight", 48, 32)
                        .each("ffn_down.bias", 32);
            case "nomic-bert-moe" ->
                fused(id)
                        .key("moe_every_n_layers", 2)
                        .key("expert_count", 6)
                        .key("expert_used_count", 2)
                        .tensor("blk.0.ffn_up.weight", 32, 48)
                        .tensor("blk.0.ffn_up.bias", 48)
                        .tensor("blk.0.ffn_down.weight", 48, 32)
                        .tensor("blk.0.ffn_down.bias", 32)
                        .tensor("blk.1.ffn_gate_inp.weight", 32, 6)
                        .tensor("blk.1.ffn_up_exps.weight", 32, 48, 6)
                        .tensor("blk.1.ffn_down_exps.weight", 48, 32, 6);
            case "eurobert" ->
                new TinySource(id)
                        .key("attention.causal", false)
                        .key("pooling_type", 1)
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
            case "t5encoder" -> t5();
            default -> throw new IllegalArgumentException(id);
        };
    }

    private static TinySource bert(String id) {
        return new TinySource(id)
                .without("attention.head_count_kv")
                .without("attention.layer_norm_rms_epsilon")
                .key("attention.layer_norm_epsilon", 1e-5f)
                .key("attention.causal", false)
                .key("pooling_type", 1)
                .tensor("token_types.weight", 32, 2)
                .tensor("token_embd_norm.weight", 32)
                .tensor("token_embd_norm.bias", 32)
                .each("attn_output.weight", 32, 32)
                .each("attn_output.bias", 32)
                .each("attn_output_norm.weight", 32)
                .each("attn_output_norm.bias", 32)
                .each("layer_output_norm.weight", 32)
                .each("layer_output_norm.bias", 32);
    }

    private static TinySource fused(String id) {
        return bert(id).each("attn_qkv.weight", 32, 96).each("attn_qkv.bias", 96);
    }

    private static TinySource t5() {
        TinySource tiny = new TinySource("t5encoder")
                .without("attention.head_count_kv")
                .key("attention.key_length", 16)
                .key("attention.value_length", 16)
                .key("attention.relative_buckets_count", 8)
                .key("pooling_type", 1)
                .tensor("enc.output_norm.weight", 32)
                .tensor("enc.blk.0.attn_rel_b.weight", 4, 8);
        for (String blk : new String[] {"enc.blk.0.", "enc.blk.1."}) {
            tiny.tensor(blk + "attn_norm.weight", 32)
                    .tensor(blk + "attn_q.weight", 32, 64)
                    .tensor(blk + "attn_k.weight", 32, 64)
                    .tensor(blk + "attn_v.weight", 32, 64)
                    .tensor(blk + "attn_o.weight", 64, 32)
                    .tensor(blk + "ffn_norm.weight", 32)
                    .tensor(blk + "ffn_gate.weight", 32, 48)
                    .tensor(blk + "ffn_up.weight", 32, 48)
                    .tensor(blk + "ffn_down.weight", 48, 32);
        }
        return tiny;
    }

    private static String listing(ModelArchitecture architecture) {
        return GraphListing.of(tiny(architecture.id()).graph(architecture));
    }

    private static void refused(ModelArchitecture architecture, TinySource tiny, String part) {
        TenonException e = tiny.refusal(architecture);
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void scoresOfTheSecondJinaFallWithTheDistance() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                type = repeat token_types.weight [32, 1] from row 0
                embd_typed = add embd, type
                token_embd_norm = layer_norm embd_typed, token_embd_norm.weight [32, 1], token_embd_norm.bias [32, \
                1], eps 1.0E-5
                blk.0, blk.1
                    attn_q = linear x, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear x, attn_k.weight [32, 32], attn_k.bias [32, 1]
                    attn_v = linear x, attn_v.weight [32, 32], attn_v.bias [32, 1]
                    attn = attention attn_q, attn_k, attn_v, heads 4/4, scale 0.35355338, causal false, \
                ScoreBias[slopes=[0.25, 0.0625, 0.015625, 0.00390625], table=Optional.empty, maxDistance=0]
                    attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                    attn_residual = add x, attn_output
                    attn_output_norm = layer_norm attn_residual, attn_output_norm.weight [32, 1], \
                attn_output_norm.bias [32, 1], eps 1.0E-5
                    ffn_gate = linear attn_output_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear attn_output_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32], ffn_down.bias [32, 1]
                    ffn_residual = add attn_output_norm, ffn_down
                    layer_output_norm = layer_norm ffn_residual, layer_output_norm.weight [32, 1], \
                layer_output_norm.bias [32, 1], eps 1.0E-5
                selected = select_rows blk.1.layer_output_norm
                pooled = pool blk.1.layer_output_norm, MEAN
                output pooled, named {hidden=selected, embedding=pooled}""", listing(JINA2));
    }

    @Test
    void theThirdJinaRotates() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                type = repeat token_types.weight [32, 1] from row 0
                embd_typed = add embd, type
                token_embd_norm = layer_norm embd_typed, token_embd_norm.weight [32, 1], token_embd_norm.bias [32, \
                1], eps 1.0E-5
                blk.0, blk.1
                    attn_qkv = linear x, attn_qkv.weight [32, 96], attn_qkv.bias [96, 1]
                    attn_q = slice attn_qkv, groups 1, from 0
                    attn_k = slice attn_qkv, groups 1, from 32
                    attn_v = slice attn_qkv, groups 1, from 64
                    q_rope = rope attn_q, HALF_SPLIT, base 20000.0, heads of 8
                    k_rope = rope attn_k, HALF_SPLIT, base 20000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/4, scale 0.35355338, causal false
                    attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                    attn_residual = add x, attn_output
                    attn_output_norm = layer_norm attn_residual, attn_output_norm.weight [32, 1], \
                attn_output_norm.bias [32, 1], eps 1.0E-5
                    ffn_up = linear attn_output_norm, ffn_up.weight [32, 48], ffn_up.bias [48, 1]
                    ffn_act = activate ffn_up, GELU_TANH
                    ffn_down = linear ffn_act, ffn_down.weight [48, 32], ffn_down.bias [32, 1]
                    ffn_residual = add attn_output_norm, ffn_down
                    layer_output_norm = layer_norm ffn_residual, layer_output_norm.weight [32, 1], \
                layer_output_norm.bias [32, 1], eps 1.0E-5
                selected = select_rows blk.1.layer_output_norm
                pooled = pool blk.1.layer_output_norm, MEAN
                output pooled, named {hidden=selected, embedding=pooled}""", listing(JINA3));
    }

    @Test
    void everySecondLayerOfNomicHasExperts() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                type = repeat token_types.weight [32, 1] from row 0
                embd_typed = add embd, type
                token_embd_norm = layer_norm embd_typed, token_embd_norm.weight [32, 1], token_embd_norm.bias [32, \
                1], eps 1.0E-5
                blk.0
                    attn_qkv = linear x, attn_qkv.weight [32, 96], attn_qkv.bias [96, 1]
                    attn_q = slice attn_qkv, groups 1, from 0
                    attn_k = slice attn_qkv, groups 1, from 32
                    attn_v = slice attn_qkv, groups 1, from 64
                    q_rope = rope attn_q, HALF_SPLIT, base 10000.0, heads of 8
                    k_rope = rope attn_k, HALF_SPLIT, base 10000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/4, scale 0.35355338, causal false
                    attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                    attn_residual = add x, attn_output
                    attn_output_norm = layer_norm attn_residual, attn_output_norm.weight [32, 1], \
                attn_output_norm.bias [32, 1], eps 1.0E-5
                    ffn_up = linear attn_output_norm, ffn_up.weight [32, 48], ffn_up.bias [48, 1]
                    ffn_act = activate ffn_up, GELU_TANH
                    ffn_down = linear ffn_act, ffn_down.weight [48, 32], ffn_down.bias [32, 1]
                    ffn_residual = add attn_output_norm, ffn_down
                    layer_output_norm = layer_norm ffn_residual, layer_output_norm.weight [32, 1], \
                layer_output_norm.bias [32, 1], eps 1.0E-5
                blk.1
                    attn_qkv = linear x, attn_qkv.weight [32, 96], attn_qkv.bias [96, 1]
                    attn_q = slice attn_qkv, groups 1, from 0
                    attn_k = slice attn_qkv, groups 1, from 32
                    attn_v = slice attn_qkv, groups 1, from 64
                    q_rope = rope attn_q, HALF_SPLIT, base 10000.0, heads of 8
                    k_rope = rope attn_k, HALF_SPLIT, base 10000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/4, scale 0.35355338, causal false
                    attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                    attn_residual = add x, attn_output
                    attn_output_norm = layer_norm attn_residual, attn_output_norm.weight [32, 1], \
                attn_output_norm.bias [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear attn_output_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2
                    ffn_up_exps = expert_linear attn_output_norm, router.chosen, ffn_up_exps.weight [32, 48, 6]
                    ffn_act_exps = activate ffn_up_exps, GELU_TANH
                    ffn_down_exps = expert_linear ffn_act_exps, router.chosen, ffn_down_exps.weight [48, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_residual = add attn_output_norm, ffn_moe
                    layer_output_norm = layer_norm ffn_residual, layer_output_norm.weight [32, 1], \
                layer_output_norm.bias [32, 1], eps 1.0E-5
                selected = select_rows blk.1.layer_output_norm
                pooled = pool blk.1.layer_output_norm, MEAN
                output pooled, named {hidden=selected, embedding=pooled}""", listing(NOMIC));
    }

    @Test
    void euroBertIsADecoderWithoutAMask() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, HALF_SPLIT, base 250000.0, heads of 8
                    k_rope = rope attn_k, HALF_SPLIT, base 250000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338, causal false
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                output_norm = rms_norm blk.1.ffn_residual, output_norm.weight [32, 1], eps 1.0E-5
                selected = select_rows output_norm
                pooled = pool output_norm, MEAN
                output pooled, named {hidden=selected, embedding=pooled}""", listing(EURO));
    }

    @Test
    void allLayersOfT5HaveTheBiasOfTheFirst() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                enc.blk.0.attn_norm = rms_norm embd, enc.blk.0.attn_norm.weight [32, 1], eps 1.0E-5
                enc.blk.0.attn_q = linear enc.blk.0.attn_norm, enc.blk.0.attn_q.weight [32, 64]
                enc.blk.0.attn_k = linear enc.blk.0.attn_norm, enc.blk.0.attn_k.weight [32, 64]
                enc.blk.0.attn_v = linear enc.blk.0.attn_norm, enc.blk.0.attn_v.weight [32, 64]
                enc.blk.0.attn = attention enc.blk.0.attn_q, enc.blk.0.attn_k, enc.blk.0.attn_v, layer 0, heads 4/4, \
                scale 1.0, causal false, ScoreBias[slopes=[], table=Optional[enc.blk.0.attn_rel_b.weight [4, 8]], \
                maxDistance=128]
                enc.blk.0.attn_o = linear enc.blk.0.attn, enc.blk.0.attn_o.weight [64, 32]
                enc.blk.0.attn_residual = add embd, enc.blk.0.attn_o
                enc.blk.0.ffn_norm = rms_norm enc.blk.0.attn_residual, enc.blk.0.ffn_norm.weight [32, 1], eps 1.0E-5
                enc.blk.0.ffn_gate = linear enc.blk.0.ffn_norm, enc.blk.0.ffn_gate.weight [32, 48]
                enc.blk.0.ffn_up = linear enc.blk.0.ffn_norm, enc.blk.0.ffn_up.weight [32, 48]
                enc.blk.0.ffn_act = activate enc.blk.0.ffn_gate, GELU_TANH
                enc.blk.0.ffn_hidden = multiply enc.blk.0.ffn_act, enc.blk.0.ffn_up
                enc.blk.0.ffn_down = linear enc.blk.0.ffn_hidden, enc.blk.0.ffn_down.weight [48, 32]
                enc.blk.0.ffn_residual = add enc.blk.0.attn_residual, enc.blk.0.ffn_down
                enc.blk.1.attn_norm = rms_norm enc.blk.0.ffn_residual, enc.blk.1.attn_norm.weight [32, 1], eps 1.0E-5
                enc.blk.1.attn_q = linear enc.blk.1.attn_norm, enc.blk.1.attn_q.weight [32, 64]
                enc.blk.1.attn_k = linear enc.blk.1.attn_norm, enc.blk.1.attn_k.weight [32, 64]
                enc.blk.1.attn_v = linear enc.blk.1.attn_norm, enc.blk.1.attn_v.weight [32, 64]
                enc.blk.1.attn = attention enc.blk.1.attn_q, enc.blk.1.attn_k, enc.blk.1.attn_v, layer 1, heads 4/4, \
                scale 1.0, causal false, ScoreBias[slopes=[], table=Optional[enc.blk.0.attn_rel_b.weight [4, 8]], \
                maxDistance=128]
                enc.blk.1.attn_o = linear enc.blk.1.attn, enc.blk.1.attn_o.weight [64, 32]
                enc.blk.1.attn_residual = add enc.blk.0.ffn_residual, enc.blk.1.attn_o
                enc.blk.1.ffn_norm = rms_norm enc.blk.1.attn_residual, enc.blk.1.ffn_norm.weight [32, 1], eps 1.0E-5
                enc.blk.1.ffn_gate = linear enc.blk.1.ffn_norm, enc.blk.1.ffn_gate.weight [32, 48]
                enc.blk.1.ffn_up = linear enc.blk.1.ffn_norm, enc.blk.1.ffn_up.weight [32, 48]
                enc.blk.1.ffn_act = activate enc.blk.1.ffn_gate, GELU_TANH
                enc.blk.1.ffn_hidden = multiply enc.blk.1.ffn_act, enc.blk.1.ffn_up
                enc.blk.1.ffn_down = linear enc.blk.1.ffn_hidden, enc.blk.1.ffn_down.weight [48, 32]
                enc.blk.1.ffn_residual = add enc.blk.1.attn_residual, enc.blk.1.ffn_down
                enc.output_norm = rms_norm enc.blk.1.ffn_residual, enc.output_norm.weight [32, 1], eps 1.0E-5
                selected = select_rows enc.output_norm
                pooled = pool enc.output_norm, MEAN
                output pooled, named {hidden=selected, embedding=pooled}""", listing(T5));
    }

    @Test
    void theFirstT5HasAReluAndNoGate() {
        TinySource tiny = t5().withoutTensor("enc.blk.0.ffn_gate.weight").withoutTensor("enc.blk.1.ffn_gate.weight");
        String listing = GraphListing.of(tiny.graph(T5));
        assertTrue(listing.contains("enc.blk.1.ffn_act = activate enc.blk.1.ffn_up, RELU"), listing);
    }

    @Test
    void whatIsNotImplementedIsRefused() {
        refused(JINA2, tiny("jina-bert-v2").tensor("blk.0.attn_q_norm.weight", 32), "blk.0.attn_q_norm.weight");
        for (ModelArchitecture each : new ModelArchitecture[] {JINA2, JINA3, NOMIC, EURO, T5}) {
            refused(each, tiny(each.id()).key("attention.causal", true), "attention.causal");
        }
    }
}
