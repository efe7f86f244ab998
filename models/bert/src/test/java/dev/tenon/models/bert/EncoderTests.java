package dev.tenon.models.bert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What these architectures make of the keys of a file; that the numbers are right, tests of whole models show.
class EncoderTests {
    private static final ModelArchitecture BERT = new BertArchitecture();
    private static final ModelArchitecture NOMIC = new NomicBertArchitecture();
    private static final ModelArchitecture MODERN = new ModernBertArchitecture();

    private static TinySource source(ModelArchitecture architecture) {
        return new TinySource(architecture.id())
                .without("attention.head_count_kv")
                .without("attention.layer_norm_rms_epsilon")
                .key("attention.layer_norm_epsilon", 1e-6f)
                .key("attention.causal", false);
    }

    private static TinySource bert() {
        return source(BERT).key("pooling_type", 2);
    }

    private static TinySource nomic() {
        TinySource source = source(NOMIC).key("pooling_type", 1);
        for (int layer = 0; layer < 2; layer++) {
            source.tensor("blk." + layer + ".attn_qkv.weight", 32, 96);
            source.tensor("blk." + layer + ".ffn_gate.weight", 32, 48);
        }
        return source;
    }

    private static TinySource modern() {
        TinySource source =
                source(MODERN).key("pooling_type", 1).key("block_count", 4).key("attention.sliding_window", 6);
        for (int layer = 0; layer < 4; layer++) {
            source.tensor("blk." + layer + ".attn_qkv.weight", 32, 96);
            source.tensor("blk." + layer + ".ffn_up.weight", 32, 96);
        }
        return source;
    }

    @Test
    void bertAddsThreeVectorsAndNormsAfterEachSum() {
        assertEquals("""
                        embd = embedding token_embd.weight [32, 67]
                        type = repeat token_types.weight [32, 1] from row 0
                        embd_typed = add embd, type
                        position = position_embedding position_embd.weight [32, 128]
                        embd_placed = add embd_typed, position
                        token_embd_norm = layer_norm embd_placed, token_embd_norm.weight [32, 1], eps 1.0E-6
                        blk.0, blk.1
                            attn_q = linear x, attn_q.weight [32, 32], attn_q.bias [32, 1]
                            attn_k = linear x, attn_k.weight [32, 32], attn_k.bias [32, 1]
                            attn_v = linear x, attn_v.weight [32, 32], attn_v.bias [32, 1]
                            attn = attention attn_q, attn_k, attn_v, heads 4/4, scale 0.35355338, causal false
                            attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                            attn_residual = add x, attn_output
                            attn_output_norm = layer_norm attn_residual, attn_output_norm.weight [32, 1], attn_output_norm.bias [32, 1], eps 1.0E-6
                            ffn_up = linear attn_output_norm, ffn_up.weight [32, 48], ffn_up.bias [48, 1]
                            ffn_act = activate ffn_up, GELU_TANH
                            ffn_down = linear ffn_act, ffn_down.weight [48, 32], ffn_down.bias [32, 1]
                            ffn_residual = add attn_output_norm, ffn_down
                            layer_output_norm = layer_norm ffn_residual, layer_output_norm.weight [32, 1], layer_output_norm.bias [32, 1], eps 1.0E-6
                        selected = select_rows blk.1.layer_output_norm
                        pooled = pool blk.1.layer_output_norm, CLS
                        output pooled, named {hidden=selected, embedding=pooled}""", GraphListing.of(bert().graph(BERT)));
    }

    @Test
    void nomicBertRotatesAndGates() {
        assertEquals("""
                        embd = embedding token_embd.weight [32, 67]
                        type = repeat token_types.weight [32, 1] from row 0
                        embd_typed = add embd, type
                        token_embd_norm = layer_norm embd_typed, token_embd_norm.weight [32, 1], eps 1.0E-6
                        blk.0, blk.1
                            attn_q = linear x, attn_qkv.weight [32, 32] from row 0
                            attn_k = linear x, attn_qkv.weight [32, 32] from row 32
                            attn_v = linear x, attn_qkv.weight [32, 32] from row 64
                            q_rope = rope attn_q, HALF_SPLIT, base 1000.0, heads of 8
                            k_rope = rope attn_k, HALF_SPLIT, base 1000.0, heads of 8
                            attn = attention q_rope, k_rope, attn_v, heads 4/4, scale 0.35355338, causal false
                            attn_output = linear attn, attn_output.weight [32, 32]
                            attn_residual = add x, attn_output
                            attn_output_norm = layer_norm attn_residual, attn_output_norm.weight [32, 1], eps 1.0E-6
                            ffn_gate = linear attn_output_norm, ffn_gate.weight [32, 48]
                            ffn_up = linear attn_output_norm, ffn_up.weight [32, 48]
                            ffn_act = activate ffn_gate, SILU
                            ffn_hidden = multiply ffn_act, ffn_up
                            ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                            ffn_residual = add attn_output_norm, ffn_down
                            layer_output_norm = layer_norm ffn_residual, layer_output_norm.weight [32, 1], eps 1.0E-6
                        selected = select_rows blk.1.layer_output_norm
                        pooled = pool blk.1.layer_output_norm, MEAN
                        output pooled, named {hidden=selected, embedding=pooled}""", GraphListing.of(nomic().graph(NOMIC)));
    }

    @Test
    void modernBertHasWindowsAndNormsBeforeTheSums() {
        assertEquals("""
                        embd = embedding token_embd.weight [32, 67]
                        token_embd_norm = layer_norm embd, token_embd_norm.weight [32, 1], eps 1.0E-6
                        blk.0
                            attn_q = linear x, attn_qkv.weight [32, 32] from row 0
                            attn_k = linear x, attn_qkv.weight [32, 32] from row 32
                            attn_v = linear x, attn_qkv.weight [32, 32] from row 64
                            q_rope = rope attn_q, HALF_SPLIT, base 160000.0, heads of 8
                            k_rope = rope attn_k, HALF_SPLIT, base 160000.0, heads of 8
                            attn = attention q_rope, k_rope, attn_v, heads 4/4, scale 0.35355338, causal false
                            attn_output = linear attn, attn_output.weight [32, 32]
                            attn_residual = add x, attn_output
                            ffn_norm = layer_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-6
                            ffn_gate = linear ffn_norm, ffn_up.weight [32, 48] from row 0
                            ffn_up = linear ffn_norm, ffn_up.weight [32, 48] from row 48
                            ffn_act = activate ffn_gate, GELU_TANH
                            ffn_hidden = multiply ffn_act, ffn_up
                            ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                            ffn_residual = add attn_residual, ffn_down
                        blk.1, blk.2
                            attn_norm = layer_norm x, attn_norm.weight [32, 1], eps 1.0E-6
                            attn_q = linear attn_norm, attn_qkv.weight [32, 32] from row 0
                            attn_k = linear attn_norm, attn_qkv.weight [32, 32] from row 32
                            attn_v = linear attn_norm, attn_qkv.weight [32, 32] from row 64
                            q_rope = rope attn_q, HALF_SPLIT, base 10000.0, heads of 8
                            k_rope = rope attn_k, HALF_SPLIT, base 10000.0, heads of 8
                            attn = attention q_rope, k_rope, attn_v, heads 4/4, scale 0.35355338, window 6, causal false
                            attn_output = linear attn, attn_output.weight [32, 32]
                            attn_residual = add x, attn_output
                            ffn_norm = layer_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-6
                            ffn_gate = linear ffn_norm, ffn_up.weight [32, 48] from row 0
                            ffn_up = linear ffn_norm, ffn_up.weight [32, 48] from row 48
                            ffn_act = activate ffn_gate, GELU_TANH
                            ffn_hidden = multiply ffn_act, ffn_up
                            ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                            ffn_residual = add attn_residual, ffn_down
                        blk.3
                            attn_norm = layer_norm x, attn_norm.weight [32, 1], eps 1.0E-6
                            attn_q = linear attn_norm, attn_qkv.weight [32, 32] from row 0
                            attn_k = linear attn_norm, attn_qkv.weight [32, 32] from row 32
                            attn_v = linear attn_norm, attn_qkv.weight [32, 32] from row 64
                            q_rope = rope attn_q, HALF_SPLIT, base 160000.0, heads of 8
                            k_rope = rope attn_k, HALF_SPLIT, base 160000.0, heads of 8
                            attn = attention q_rope, k_rope, attn_v, heads 4/4, scale 0.35355338, causal false
                            attn_output = linear attn, attn_output.weight [32, 32]
                            attn_residual = add x, attn_output
                            ffn_norm = layer_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-6
                            ffn_gate = linear ffn_norm, ffn_up.weight [32, 48] from row 0
                            ffn_up = linear ffn_norm, ffn_up.weight [32, 48] from row 48
                            ffn_act = activate ffn_gate, GELU_TANH
                            ffn_hidden = multiply ffn_act, ffn_up
                            ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                            ffn_residual = add attn_residual, ffn_down
                        output_norm = layer_norm blk.3.ffn_residual, output_norm.weight [32, 1], eps 1.0E-6
                        selected = select_rows output_norm
                        pooled = pool output_norm, MEAN
                        output pooled, named {hidden=selected, embedding=pooled}""", GraphListing.of(modern().graph(MODERN)));
    }

    @Test
    void aFileMayPoolByTheLastTokenOrNotAtAll() {
        Graph last = bert().key("pooling_type", 3).graph(BERT);
        assertEquals(last.outputs().get(Graph.HIDDEN), last.outputs().get(Graph.EMBEDDING));
        Graph none = bert().key("pooling_type", 0).graph(BERT);
        assertEquals(Set.of(Graph.HIDDEN), none.outputs().keySet());
        assertEquals(none.outputs().get(Graph.HIDDEN), none.output());
        assertEquals(
                none.output().name(),
                bert().without("pooling_type").graph(BERT).output().name());
    }

    @Test
    void aRerankerScoresItsLabels() {
        TinySource source = bert().key("pooling_type", 4)
                .tensor("cls.weight", 32, 32)
                .tensor("cls.bias", 32)
                .tensor("cls.output.weight", 32, 3)
                .tensor("cls.output.bias", 3);
        String listing = GraphListing.of(source.graph(BERT));
        assertTrue(listing.endsWith("""
                        pooled = pool blk.1.layer_output_norm, CLS
                        cls = linear pooled, cls.weight [32, 32], cls.bias [32, 1]
                        cls_act = activate cls, TANH
                        cls.output = linear cls_act, cls.output.weight [32, 3], cls.output.bias [3, 1]
                        output cls.output, named {hidden=selected, scores=cls.output}"""), listing);
        assertFalse(source.graph(BERT).outputs().containsKey(Graph.EMBEDDING));
    }

    @Test
    void keysThatFilesLeaveOutHaveTheirUsualValues() {
        ModelConfig config = bert().config(BERT);
        assertEquals(4, config.headCountKv());
        assertEquals(8, config.keyLength());
        assertEquals(1e-6f, config.rmsEps());
        assertEquals(1000, nomic().config(NOMIC).ropeFreqBase());
        assertEquals(160_000, modern().config(MODERN).ropeFreqBase());
    }

    @Test
    void textsHaveOneTypeHoweverManyThereAre() {
        TinySource source = bert();
        assertTrue(GraphListing.of(source.graph(BERT)).contains("token_types.weight"));
        assertEquals(
                2,
                source.graph(BERT).weights().stream()
                        .filter(weight -> weight.name().equals("token_types.weight"))
                        .findFirst()
                        .orElseThrow()
                        .rows());
    }

    @Test
    void whatIsNotImplementedIsRefused() {
        refused(BERT, bert().key("attention.causal", true), "attention.causal", ErrorCode.MODEL_ARCHITECTURE);
        refused(BERT, bert().key("pooling_type", 5), "pooling_type", ErrorCode.MODEL_KEY_VALUE);
        refused(BERT, bert().without("context_length"), "context_length", ErrorCode.MODEL_KEY_MISSING);
        refused(NOMIC, nomic().key("rope.scaling.type", "su"), "rope.scaling.type", ErrorCode.MODEL_ARCHITECTURE);
        refused(MODERN, modern().key("hidden_activation", "relu"), "hidden_activation", ErrorCode.MODEL_ARCHITECTURE);
        refused(
                MODERN,
                modern().without("attention.sliding_window"),
                "attention.sliding_window",
                ErrorCode.MODEL_KEY_MISSING);
        assertTrue(GraphListing.of(modern().key("hidden_activation", "silu").graph(MODERN))
                .contains("SILU"));
    }

    private static void refused(ModelArchitecture architecture, TinySource source, String key, String code) {
        TenonException e = source.refusal(architecture);
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(key), e.getMessage());
    }

    @Test
    void aTextCannotComeInSeveralSteps() {
        for (Graph graph : List.of(bert().graph(BERT), nomic().graph(NOMIC), modern().graph(MODERN))) {
            assertFalse(graph.isCausal());
        }
    }
}
