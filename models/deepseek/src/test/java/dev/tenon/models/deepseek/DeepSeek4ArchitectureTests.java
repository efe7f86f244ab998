package dev.tenon.models.deepseek;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DeepSeek4ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new DeepSeek4Architecture();
    }

    /// Heads of 12, of which 4 are rotated; a window alone, runs of 4 with an index, runs of 8.
    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource("deepseek4")
                .key("block_count", 3)
                .key("attention.head_count_kv", 1)
                .key("attention.key_length", 12)
                .key("attention.value_length", 12)
                .key("rope.dimension_count", 4)
                .key("attention.q_lora_rank", 20)
                .key("attention.sliding_window", 5)
                .key("attention.compress_ratios", new long[] {0, 4, 8, 0})
                .key("attention.compress_rope_freq_base", 5000f)
                .key("attention.indexer.head_count", 3)
                .key("attention.indexer.key_length", 8)
                .key("attention.indexer.top_k", 2)
                .key("attention.output_group_count", 2)
                .key("attention.output_lora_rank", 6)
                .key("hyper_connection.count", 2)
                .key("hyper_connection.sinkhorn_iterations", 3)
                .key("hyper_connection.epsilon", 1e-6f)
                .key("hash_layer_count", 1)
                .key("swiglu_clamp_exp", 4f)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_shared_count", 1)
                .key("expert_feed_forward_length", 24)
                .key("expert_weights_scale", 1.5f)
                .key("expert_gating_func", 4)
                .key("rope.scaling.type", "yarn")
                .key("rope.scaling.factor", 4f)
                .key("rope.scaling.original_context_length", 64)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("output_hc_fn.weight", 64, 2)
                .tensor("output_hc_base.weight", 2)
                .tensor("output_hc_scale.weight", 1)
                .each("attn_norm.weight", 32)
                .each("attn_sinks.weight", 4)
                .each("attn_q_a.weight", 32, 20)
                .each("attn_q_a_norm.weight", 20)
                .each("attn_q_b.weight", 20, 48)
                .each("attn_kv.weight", 32, 12)
                .each("attn_kv_a_norm.weight", 12)
                .each("attn_output_a.weight", 24, 6, 2)
                .each("attn_output_b.weight", 12, 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate_inp.weight", 32, 6)
                .each("ffn_gate_exps.weight", 32, 24, 6)
                .each("ffn_up_exps.weight", 32, 24, 6)
                .each("ffn_down_exps.weight", 24, 32, 6)
                .each("ffn_gate_shexp.weight", 32, 24)
                .each("ffn_up_shexp.weight", 32, 24)
                .each("ffn_down_shexp.weight", 24, 32)
                .tensor("blk.0.ffn_gate_tid2eid.weight", 2, 67)
                .tensor("blk.1.exp_probs_b.bias", 6)
                .tensor("blk.2.exp_probs_b.bias", 6)
                .tensor("blk.1.indexer.proj.weight", 32, 3)
                .tensor("blk.1.indexer.attn_q_b.weight", 20, 24);
        for (String mixer : new String[] {"attn", "ffn"}) {
            tiny.each("hc_" + mixer + "_fn.weight", 64, 8)
                    .each("hc_" + mixer + "_base.weight", 8)
                    .each("hc_" + mixer + "_scale.weight", 3);
        }
        compressor(tiny, "blk.1.attn_compressor", 12, 24, 4);
        compressor(tiny, "blk.1.indexer_compressor", 8, 16, 4);
        compressor(tiny, "blk.2.attn_compressor", 12, 12, 8);
        return tiny;
    }

    private static void compressor(TinySource tiny, String name, int length, int wide, int run) {
        tiny.tensor(name + "_kv.weight", 32, wide)
                .tensor(name + "_gate.weight", 32, wide)
                .tensor(name + "_ape.weight", wide, run)
                .tensor(name + "_norm.weight", length);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "attention.head_count_kv",
                "attention.key_length",
                "attention.value_length",
                "attention.q_lora_rank",
                "attention.sliding_window",
                "attention.compress_ratios",
                "attention.compress_rope_freq_base",
                "attention.indexer.head_count",
                "attention.indexer.key_length",
                "attention.indexer.top_k",
                "attention.output_group_count",
                "attention.output_lora_rank",
                "hyper_connection.count",
                "hyper_connection.sinkhorn_iterations",
                "hyper_connection.epsilon",
                "swiglu_clamp_exp",
                "expert_count",
                "expert_used_count",
                "expert_shared_count",
                "expert_feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning()
                .blockCount(3)
                .headCountKv(1)
                .keyLength(12)
                .valueLength(12)
                .ropeDim(4)
                .build();
    }

    private void holds(String part) {
        String listing = GraphListing.of(tiny().graph(architecture()));
        assertTrue(listing.contains(part.stripTrailing()), listing);
    }

    /// A mixer reads a mixture of both streams; of them and its result, each becomes a mixture of its own.
    @Test
    void streamsAreMixedBeforeAndAfterAMixer() {
        holds("hc_embd.1 = join embd, embd, groups 1");
        holds("""
                    hc_attn_unit = plain_rms_norm x, groups 1, eps 1.0E-5
                    hc_attn_fn = linear hc_attn_unit, hc_attn_fn.weight [64, 8]
                    hc_attn_shares = deepseek.hyper_shares hc_attn_fn, hc_attn_scale.weight [3, 1], hc_attn_base.weight [8, 1]
                    hc_attn_pre = slice hc_attn_shares, groups 1, from 0
                    hc_attn_in = weighted_sum x, hc_attn_pre
                    attn_norm = rms_norm hc_attn_in, attn_norm.weight [32, 1], eps 1.0E-5
                """);
        holds("""
                    hc_ffn_all = join hc_attn_streams.1, ffn_both, groups 1
                    hc_ffn_post.0 = slice hc_ffn_shares, groups 1, from 2
                    hc_ffn_stream.0 = weighted_sum hc_ffn_all, hc_ffn_post.0
                    hc_ffn_post.1 = slice hc_ffn_shares, groups 1, from 5
                    hc_ffn_stream.1 = weighted_sum hc_ffn_all, hc_ffn_post.1
                    hc_ffn_streams.1 = join hc_ffn_stream.0, hc_ffn_stream.1, groups 1
                """);
        holds("""
                output_hc_unit = plain_rms_norm blk.2.hc_ffn_streams.1, groups 1, eps 1.0E-5
                output_hc_fn = linear output_hc_unit, output_hc_fn.weight [64, 2]
                output_hc_shares = deepseek.hyper_shares output_hc_fn, output_hc_scale.weight [1, 1], output_hc_base.weight [2, 1]
                output_hc = weighted_sum blk.2.hc_ffn_streams.1, output_hc_shares
                """);
    }

    /// A window alone is rotated with the usual base and is not scaled.
    @Test
    void attentionIsRotatedBack() {
        holds("""
                    k_pe = slice attn_kv_a_norm, groups 1, from 8
                    k_rope = rope k_pe, INTERLEAVED, base 10000.0, heads of 4
                    k_nope = slice attn_kv_a_norm, groups 1, from 0
                    k = join k_nope, k_rope, groups 1
                    attn = attention q, k, k, heads 4/1, scale 0.28867513, window 5, values in keys true, attn_sinks.weight [4, 1]
                    attn_back_pe = slice attn, groups 4, from 8
                    attn_back_rope = rope attn_back_pe, INTERLEAVED, base 10000.0, heads of 4, scale -1.0
                    attn_back_nope = slice attn, groups 4, from 0
                    attn_back = join attn_back_nope, attn_back_rope, groups 4
                    attn_low = head_linear attn_back, attn_output_a.weight [24, 6, 2]
                    attn_output_b = linear attn_low, attn_output_b.weight [12, 32]
                """);
    }

    @Test
    void runsOfFourOverlapAndAreChosen() {
        String rope =
                "INTERLEAVED, base 5000.0, heads of 4, run 4, Yarn[factor=4.0, originalContextLength=64, betaFast=32.0, betaSlow=1.0]";
        holds("""
                    attn_compressor = run_mean attn_compressor_kv, attn_compressor_gate, attn_compressor_ape.weight [24, 4]
                    attn_compressor_norm = rms_norm attn_compressor, attn_compressor_norm.weight [12, 1], eps 1.0E-5
                    attn_compressor_k_pe = slice attn_compressor_norm, groups 1, from 8
                    attn_compressor_k_rope = rope attn_compressor_k_pe, %s
                """.formatted(rope));
        holds("""
                    indexer.shares = scale indexer.proj, factor 0.20412415
                    positions = select_positions indexer.q, indexer.shares, indexer_compressor_k, layer 3, run 4
                    attn = run_attention q, k, k, heads 4/1, scale 0.28867513, window 5, values in keys true, \
                attn_sinks.weight [4, 1], q, attn_compressor_k, attn_compressor_k, layer 2, heads 4/1, scale 0.28867513, \
                values in keys true, run 4, positions
                """);
    }

    @Test
    void longRunsAreAllAttendedTo() {
        holds(
                "attn_compressor = run_mean attn_compressor_kv, attn_compressor_gate, attn_compressor_ape.weight [12, 8]");
        holds("attn_compressor_k, layer 5, heads 4/1, scale 0.28867513, values in keys true, run 8\n");
    }

    @Test
    void aTableGivesTheFirstBlocksTheirExperts() {
        holds("""
                    given = embedding ffn_gate_tid2eid.weight [2, 67]
                    router_chosen, router_shares = deepseek.given_experts ffn_gate_inp, given
                    ffn_gate_exps = expert_linear ffn_norm, router_chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_norm, router_chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_hidden_exps = swiglu_oai ffn_gate_exps, ffn_up_exps, alpha 1.0, limit 4.0, offset 0.0
                """);
        holds("router ffn_gate_inp, SOFTPLUS_ROOT, used 2, normalise true, scale 1.5, exp_probs_b.bias [6, 1]");
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("attention.output_group_count", 3), ErrorCode.MODEL_KEY_VALUE, "output_group_count");
        refused(tiny().key("attention.value_length", 8), ErrorCode.MODEL_KEY_VALUE, "value_length");
        refused(tiny().key("hyper_connection.count", 1), ErrorCode.MODEL_KEY_VALUE, "hyper_connection.count");
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    /// Logits of 0 everywhere but in the matrix, where the first stream keeps all and the second gives half: what is
    /// got is divided out first, then what is given.
    @Test
    void sharesOfStreamsAreBalanced() {
        Value x = new Value(0, "x", 8);
        HyperShares op = shares(2);
        double[] logits = {0, 0, 0, Math.log(3), 0, -1000, 0, 0};
        double[] row = op.evaluate(new double[][] {logits}, new float[][] {{1, 1, 1}, new float[8]})[0];
        // Given: {1, 0} and {1/2, 1/2}; over what is got {2/3, 0}, {1/3, 1}; over what is given {1, 0}, {1/4, 3/4};
        // over what is got {4/5, 0}, {1/5, 1}.
        assertArrayEquals(new double[] {0.5, 0.5, 0.8, 0.2, 1, 0, 1, 1.5}, row, 1e-12);
        double[] scaled =
                op.evaluate(new double[][] {new double[8]}, new float[][] {{1, 1, 1}, {0, 9, 0, 9, 0, 0, 0, 0}})[0];
        assertArrayEquals(new double[] {0.5, sigmoid(9), 0.5, 0.5, 1, 0.5, 0.5, 2 * sigmoid(9)}, scaled, 1e-12);
        assertThrows(
                IllegalArgumentException.class,
                () -> new HyperShares(x, Weight.vector("s", 1), Weight.vector("b", 8), 2, 2, 0, x));
    }

    private static HyperShares shares(int iterations) {
        Value x = new Value(0, "x", 8);
        Value out = new Value(1, "out", 8);
        return new HyperShares(x, Weight.vector("s", 3), Weight.vector("b", 8), 2, iterations, 0, out);
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    @Test
    void givenExpertsAreWeighedByTheirLogits() {
        Value two = new Value(1, "two", 2);
        RouterParams params = RouterParams.builder(Gating.SOFTPLUS_ROOT, 2)
                .normalise(true)
                .scale(1.5f)
                .build();
        GivenExperts op = new GivenExperts(new Value(0, "x", 3), two, params, two, two);
        double[][] rows = op.evaluate(new double[][] {{0, 5, 1}, {2, 0}}, new float[0][]);
        double first = Math.sqrt(Math.log(1 + Math.E));
        double second = Math.sqrt(Math.log(2));
        assertArrayEquals(new double[] {2, 0}, rows[0]);
        assertArrayEquals(
                new double[] {1.5 * first / (first + second), 1.5 * second / (first + second)}, rows[1], 1e-12);
        // What a file names beyond the last expert is the last.
        assertArrayEquals(new double[] {2, 0}, op.evaluate(new double[][] {{0, 5, 1}, {7, -1}}, new float[0][])[0]);
    }
}
