package dev.tenon.platform.tools.gguf;

import dev.tenon.platform.tools.gguf.SynthPresets.Row;
import dev.tenon.platform.tools.gguf.SynthPresets.Size;
import dev.tenon.platform.tools.gguf.SynthShape.RopeFactors;
import java.util.Map;

/// Shapes of further families: dense decoders, experts, states, encoders.
final class SynthFamilies {
    private static final String[] BIASES = {"blk.*.attn_q.bias", "blk.*.attn_k.bias", "blk.*.attn_v.bias"};
    private static final String CHOICE_BIAS = "blk.*.exp_probs_b.bias";
    private static final String LAYER_NORM = "attention.layer_norm_epsilon";

    private SynthFamilies() {}

    static void put(Map<String, SynthShape> all) {
        dense(all);
        layerNorms(all);
        experts(all);
        states(all);
        gemma(all);
        encoders(all);
    }

    private static void dense(Map<String, SynthShape> all) {
        Row glm = new Row("glm4", 151552, 32768, 10000f, 1e-5f)
                .with("rope.dimension_count", 64)
                .optional("blk.*.ffn_up.weight");
        glm.optional(BIASES).put(all, "glm-4-9b", new Size(40, 4096, 32, 2, 128, 13696), false);
        glm.put(all, "glm-4-32b", new Size(61, 6144, 48, 2, 128, 23040), false);
        Row exaone = new Row("exaone4", 102400, 65536, 1e6f, 1e-5f);
        exaone.put(all, "exaone-4-1.2b", new Size(30, 2048, 32, 8, 64, 4096), true, RopeFactors.STRETCHED);
        exaone.context(131072)
                .with("attention.sliding_window", 4096)
                .put(all, "exaone-4-32b", new Size(64, 5120, 40, 8, 128, 27392), false, RopeFactors.STRETCHED);
        new Row("ernie4_5", 103424, 131072, 500000f, 1e-5f)
                .put(all, "ernie-4.5-0.3b", new Size(18, 1024, 16, 2, 128, 3072), true);
        new Row("seed_oss", 155136, 524288, 1e7f, 1e-6f)
                .optional(BIASES)
                .put(all, "seed-oss-36b", new Size(64, 5120, 80, 8, 128, 27648), false);
        Row hunyuan = new Row("hunyuan-dense", 120818, 262144, 10000f, 1e-5f).with("rope.scaling.alpha", 1000f);
        hunyuan.put(all, "hunyuan-0.5b", new Size(24, 1024, 16, 8, 128, 3584), true);
        hunyuan.put(all, "hunyuan-1.8b", new Size(32, 2048, 16, 4, 128, 6144), true);
        hunyuan.put(all, "hunyuan-4b", new Size(36, 3072, 32, 8, 128, 8192), true);
        new Row("hunyuan-dense", 128167, 262144, 10000f, 1e-5f)
                .with("rope.scaling.alpha", 1000f)
                .put(all, "hunyuan-7b", new Size(32, 4096, 32, 8, 128, 14336), true);
    }

    private static void layerNorms(Map<String, SynthShape> all) {
        String[] norms = {"output_norm.bias", "blk.*.attn_norm.bias", "blk.*.ffn_norm.bias"};
        Row stable = new Row("stablelm", 100352, 4096, 10000f, 1e-5f)
                .with(LAYER_NORM, 1e-5f)
                .with("use_parallel_residual", false)
                .optional(norms);
        stable.with("rope.dimension_count", 16)
                .optional(BIASES)
                .put(all, "stablelm-2-1.6b", new Size(24, 2048, 32, 32, 64, 5632), false);
        new Row("stablelm", 50304, 4096, 10000f, 1e-5f)
                .with(stable.keys())
                .optional(norms)
                .with("rope.dimension_count", 20)
                .put(all, "stablelm-3b-4e1t", new Size(32, 2560, 32, 32, 80, 6912), false);
        Row star = new Row("starcoder2", 49152, 16384, 100000f, 1e-5f)
                .with(LAYER_NORM, 1e-5f)
                .optional(norms)
                .optional(BIASES)
                .optional("blk.*.attn_output.bias", "blk.*.ffn_up.bias", "blk.*.ffn_down.bias");
        star.put(all, "starcoder2-3b", new Size(30, 3072, 24, 2, 128, 12288), true);
        star.put(all, "starcoder2-7b", new Size(32, 4608, 36, 4, 128, 18432), true);
        star.put(all, "starcoder2-15b", new Size(40, 6144, 48, 4, 128, 24576), false);
        Row command = new Row("command-r", 256000, 131072, 8e6f, 1e-5f)
                .with(LAYER_NORM, 1e-5f)
                .with("logit_scale", 0.0625f);
        command.put(all, "command-r-35b", new Size(40, 8192, 64, 64, 128, 22528), true);
        command.put(all, "command-r-08-2024", new Size(40, 8192, 64, 8, 128, 24576), true);
        new Row("phimoe", 32064, 131072, 10000f, 1e-5f)
                .experts(16, 2)
                .optional(norms)
                .optional(BIASES)
                .optional("blk.*.attn_output.bias", "output.bias")
                .optional("rope_factors_long.weight", "rope_factors_short.weight")
                .with("rope.scaling.type", "longrope")
                .with("rope.scaling.attn_factor", (float) Math.sqrt(1 + Math.log(32) / Math.log(4096)))
                .with("rope.scaling.original_context_length", 4096)
                .put(all, "phi-3.5-moe", new Size(32, 4096, 32, 8, 128, 6400), false);
    }

    private static void experts(Map<String, SynthShape> all) {
        new Row("ernie4_5-moe", 103424, 131072, 500000f, 1e-5f)
                .experts(64, 6)
                .with("feed_forward_length", 12288)
                .with("expert_shared_feed_forward_length", 3072)
                .with("interleave_moe_layer_step", 1)
                .with("leading_dense_block_count", 1)
                .optional(CHOICE_BIAS)
                .put(all, "ernie-4.5-21b-a3b", new Size(28, 2560, 20, 4, 128, 1536), true);
        Row granite = new Row("granitemoe", 49155, 131072, 1.5e6f, 1e-6f)
                .with("embedding_scale", 12f)
                .with("residual_scale", 0.22f)
                .with("logit_scale", 6f)
                .with("attention.scale", 0.015625f);
        granite.experts(32, 8).put(all, "granite-3.1-1b-a400m", new Size(24, 1024, 16, 8, 64, 512), true);
        granite.experts(40, 8).put(all, "granite-3.1-3b-a800m", new Size(32, 1536, 24, 8, 64, 512), true);
        new Row("bailingmoe2", 157184, 32768, 600000f, 1e-6f)
                .experts(256, 8)
                .with("rope.dimension_count", 64)
                .with("feed_forward_length", 5120)
                .with("expert_shared_feed_forward_length", 512)
                .with("expert_shared_count", 1)
                .with("leading_dense_block_count", 1)
                .with("expert_weights_scale", 2.5f)
                .with("expert_weights_norm", true)
                .with("expert_gating_func", 2)
                .with("expert_group_count", 8)
                .with("expert_group_used_count", 4)
                .optional("blk.*.attn_qkv.weight", CHOICE_BIAS)
                .put(all, "ling-mini-2.0", new Size(20, 2048, 16, 4, 128, 512), false);
        long[] attention = new long[27];
        for (int layer : new int[] {3, 7, 11, 15, 19, 23, 26}) {
            attention[layer] = 1;
        }
        new Row("kimi-linear", 163840, 1048576, 10000f, 1e-5f)
                .experts(256, 8)
                .with(SynthKeys.latentAttention(512, 128, 64, 128))
                .with("attention.head_count_kv", attention)
                .with("ssm.conv_kernel", 4)
                .with("kda.head_dim", 128)
                .with("feed_forward_length", 9216)
                .with("leading_dense_block_count", 1)
                .with("expert_shared_count", 1)
                .with("expert_weights_scale", 2.446f)
                .with("expert_weights_norm", true)
                .with("expert_gating_func", 2)
                .optional(CHOICE_BIAS)
                .put(all, "kimi-linear-48b-a3b", new Size(27, 2304, 32, 1, 192, 1024), false);
    }

    private static void states(Map<String, SynthShape> all) {
        String nano = "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-";
        String small = "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-";
        Row nemotron = new Row("nemotron_h", 131072, 131072, 10000f, 1e-5f).optional("blk.*.ssm_conv1d.bias");
        nemotron.with(SynthKeys.mixedLayers(nano, 8, 15680))
                .with(SynthKeys.mamba2(10240, 128, 128, 8))
                .put(all, "nemotron-nano-9b-v2", new Size(nano.length(), 4480, 40, 8, 128, 15680), false);
        nemotron.context(8192)
                .with(SynthKeys.mixedLayers(small, 8, 12288))
                .with(SynthKeys.mamba2(7168, 112, 128, 8))
                .put(all, "nemotron-h-4b", new Size(small.length(), 3072, 32, 8, 128, 12288), false);
        Row falcon = new Row("falcon-h1", 32784, 16384, 1e11f, 1e-5f).optional("blk.*.ssm_conv1d.bias");
        falcon.with(SynthKeys.mamba2(1536, 24, 128, 1))
                .put(all, "falcon-h1-0.5b", new Size(36, 1024, 8, 2, 64, 2048), false);
        Row larger = new Row("falcon-h1", 65537, 131072, 1e11f, 1e-5f)
                .optional("blk.*.ssm_conv1d.bias", "blk.*.ssm_norm.weight");
        larger.with(SynthKeys.mamba2(3072, 48, 256, 1))
                .put(all, "falcon-h1-1.5b", new Size(24, 2048, 8, 2, 128, 4608), false);
        larger.with(SynthKeys.mamba2(4096, 32, 256, 1))
                .put(all, "falcon-h1-3b", new Size(32, 2560, 10, 2, 128, 6144), false);
        new Row("falcon-h1", 130048, 262144, 1e11f, 1e-5f)
                .optional("blk.*.ssm_conv1d.bias", "blk.*.ssm_norm.weight")
                .with(SynthKeys.mamba2(3072, 24, 256, 1))
                .put(all, "falcon-h1-7b", new Size(44, 3072, 12, 2, 128, 12288), false);
        new Row("falcon-h1", 261120, 262144, 1e11f, 1e-5f)
                .optional("blk.*.ssm_conv1d.bias", "blk.*.ssm_norm.weight")
                .with(SynthKeys.mamba2(4096, 32, 256, 2))
                .put(all, "falcon-h1-34b", new Size(72, 5120, 20, 4, 128, 21504), false);
        new Row("mamba2", 50288, 1048576, 10000f, 1e-5f)
                .with(SynthKeys.mamba2(5120, 80, 128, 1))
                .with("attention.head_count", 0)
                .with("attention.head_count_kv", 0)
                .with("feed_forward_length", 0)
                .optional("blk.*.ssm_conv1d.bias")
                .put(all, "mamba2-2.7b", new Size(64, 2560, 1, 1, 64, 1), true);
    }

    private static void gemma(Map<String, SynthShape> all) {
        Row gemma = new Row("gemma", 256000, 8192, 10000f, 1e-6f);
        gemma.put(all, "gemma-2b", new Size(18, 2048, 8, 1, 256, 16384), true);
        gemma.put(all, "gemma-7b", new Size(28, 3072, 16, 16, 256, 24576), true);
        Row streams = new Row("gemma3n", 262144, 32768, 1e6f, 1e-6f).optional("blk.*.attn_v.weight");
        streams.with(SynthKeys.gemma3n(30, 10, 8192))
                .put(all, "gemma-3n-e2b", new Size(30, 2048, 8, 2, 256, 8192), true);
        streams.with(SynthKeys.gemma3n(35, 15, 16384))
                .put(all, "gemma-3n-e4b", new Size(35, 2048, 8, 2, 256, 16384), true);
    }

    private static void encoders(Map<String, SynthShape> all) {
        Row bert = new Row("bert", 30522, 512, 10000f, 1e-12f)
                .with(LAYER_NORM, 1e-12f)
                .with("attention.causal", false)
                .with("tokenizer.ggml.token_type_count", 2)
                .optional("token_embd_norm.bias");
        Row first = bert.with("pooling_type", 2);
        bert.with("pooling_type", 1).put(all, "all-minilm-l6-v2", new Size(6, 384, 12, 12, 32, 1536), true);
        first.put(all, "bge-small-en-v1.5", new Size(12, 384, 12, 12, 32, 1536), true);
        first.put(all, "bge-base-en-v1.5", new Size(12, 768, 12, 12, 64, 3072), true);
        first.put(all, "bge-large-en-v1.5", new Size(24, 1024, 16, 16, 64, 4096), true);
        new Row("nomic-bert", 30528, 2048, 1000f, 1e-12f)
                .with(bert.keys())
                .with("pooling_type", 1)
                .optional("blk.*.attn_qkv.weight", "token_embd_norm.bias")
                .optional("blk.*.attn_output_norm.bias", "blk.*.layer_output_norm.bias")
                .put(all, "nomic-embed-text-v1.5", new Size(12, 768, 12, 12, 64, 3072), true);
        new Row("modern-bert", 50368, 8192, 160000f, 1e-5f)
                .with(LAYER_NORM, 1e-5f)
                .with("attention.causal", false)
                .with("attention.sliding_window", 128)
                .with("pooling_type", 1)
                .optional("blk.*.attn_qkv.weight", "blk.*.ffn_up.weight")
                .put(all, "modernbert-base", new Size(22, 768, 12, 12, 64, 1152), true);
    }
}
