package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.platform.tools.gguf.SynthShape.RopeFactors;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// The shapes of published models, by name.
final class SynthPresets {
    /// All of them, in the order of their names.
    static final Map<String, SynthShape> ALL = Collections.unmodifiableMap(all());

    private SynthPresets() {}

    private static Map<String, SynthShape> all() {
        Map<String, SynthShape> all = new TreeMap<>();
        llama(all);
        qwen(all);
        gemma(all);
        experts(all);
        sharedExperts(all);
        hybrids(all);
        others(all);
        SynthFamilies.put(all);
        return all;
    }

    private static void llama(Map<String, SynthShape> all) {
        Map<String, GgufValue> text = new SynthKeys()
                .put("tokenizer.ggml.pre", "llama-bpe")
                .put("tokenizer.ggml.add_bos_token", true)
                .map();
        Row llama = new Row("llama", 128256, 131072, 500000f, 1e-5f).with(text);
        llama.put(all, "llama-3.2-1b", new Size(16, 2048, 32, 8, 64, 8192), true, RopeFactors.STRETCHED);
        llama.put(all, "llama-3.2-3b", new Size(28, 3072, 24, 8, 128, 8192), true, RopeFactors.STRETCHED);
        llama.context(8192).put(all, "llama-3-8b", new Size(32, 4096, 32, 8, 128, 14336), false);
        new Row("llama", 32768, 32768, 1e6f, 1e-5f)
                .with(text)
                .put(all, "mistral-7b-v0.3", new Size(32, 4096, 32, 8, 128, 14336), false);
    }

    private static void qwen(Map<String, SynthShape> all) {
        Row qwen2 = new Row("qwen2", 151936, 32768, 1e6f, 1e-6f);
        qwen2.put(all, "qwen2.5-0.5b", new Size(24, 896, 14, 2, 64, 4864), true);
        qwen2.put(all, "qwen2.5-1.5b", new Size(28, 1536, 12, 2, 128, 8960), true);
        qwen2.put(all, "qwen2.5-3b", new Size(36, 2048, 16, 2, 128, 11008), true);
        Row large = new Row("qwen2", 152064, 32768, 1e6f, 1e-6f);
        large.put(all, "qwen2.5-7b", new Size(28, 3584, 28, 4, 128, 18944), false);
        large.put(all, "qwen2.5-14b", new Size(48, 5120, 40, 8, 128, 13824), false);
        large.put(all, "qwen2.5-32b", new Size(64, 5120, 40, 8, 128, 27648), false);
        Row qwen3 = new Row("qwen3", 151936, 40960, 1e6f, 1e-6f);
        qwen3.put(all, "qwen3-0.6b", new Size(28, 1024, 16, 8, 128, 3072), true);
        qwen3.put(all, "qwen3-1.7b", new Size(28, 2048, 16, 8, 128, 6144), true);
        qwen3.put(all, "qwen3-4b", new Size(36, 2560, 32, 8, 128, 9728), true);
        qwen3.put(all, "qwen3-8b", new Size(36, 4096, 32, 8, 128, 12288), false);
        qwen3.put(all, "qwen3-14b", new Size(40, 5120, 40, 8, 128, 17408), false);
    }

    private static void gemma(Map<String, SynthShape> all) {
        Row gemma2 = new Row("gemma2", 256000, 8192, 10000f, 1e-6f)
                .with("attention.sliding_window", 4096)
                .with("attn_logit_softcapping", 50f)
                .with("final_logit_softcapping", 30f);
        gemma2.put(all, "gemma-2-2b", new Size(26, 2304, 8, 4, 256, 9216), true);
        gemma2.put(all, "gemma-2-9b", new Size(42, 3584, 16, 8, 256, 14336), true);
        Row small = new Row("gemma3", 262144, 32768, 1e6f, 1e-6f).with("attention.sliding_window", 512);
        small.put(all, "gemma-3-270m", new Size(18, 640, 4, 1, 256, 2048), true);
        small.put(all, "gemma-3-1b", new Size(26, 1152, 4, 1, 256, 6912), true);
        Row large = new Row("gemma3", 262208, 131072, 1e6f, 1e-6f)
                .with("attention.sliding_window", 1024)
                .with("rope.scaling.type", "linear")
                .with("rope.scaling.factor", 8f);
        large.put(all, "gemma-3-4b", new Size(34, 2560, 8, 4, 256, 10240), true);
        large.put(all, "gemma-3-12b", new Size(48, 3840, 16, 8, 256, 15360), true);
        large.put(all, "gemma-3-27b", new Size(62, 5376, 32, 16, 128, 21504), true);
        String[] valuesOfAll = {"blk.*.attn_v.weight", "blk.*.layer_output_scale.weight"};
        Row e2b = new Row("gemma4", 262144, 131072, 1e6f, 1e-6f)
                .with(SynthKeys.gemma4(35, 5, 20, 6144, 12288))
                .optional(valuesOfAll);
        e2b.put(all, "gemma-4-e2b", new Size(35, 1536, 8, 1, 512, 6144), true, RopeFactors.QUARTER);
        Row e4b = new Row("gemma4", 262144, 131072, 1e6f, 1e-6f)
                .with(SynthKeys.gemma4(42, 6, 18, 10240, 10240))
                .optional(valuesOfAll);
        e4b.put(all, "gemma-4-e4b", new Size(42, 2560, 8, 2, 512, 10240), true, RopeFactors.QUARTER);
    }

    private static void experts(Map<String, SynthShape> all) {
        new Row("olmoe", 50304, 4096, 10000f, 1e-5f)
                .experts(64, 8)
                .put(all, "olmoe-1b-7b", new Size(16, 2048, 16, 16, 128, 1024), false);
        new Row("qwen3moe", 151936, 40960, 1e6f, 1e-6f)
                .experts(128, 8)
                .with("feed_forward_length", 6144)
                .put(all, "qwen3-30b-a3b", new Size(48, 2048, 32, 4, 128, 768), false);
        Row oss = new Row("gpt-oss", 201088, 131072, 150000f, 1e-5f)
                .with("attention.sliding_window", 128)
                .with("rope.scaling.type", "yarn")
                .with("rope.scaling.factor", 32f)
                .with("rope.scaling.original_context_length", 4096);
        oss.experts(32, 4).put(all, "gpt-oss-20b", new Size(24, 2880, 64, 8, 64, 2880), false);
        oss.experts(128, 4).put(all, "gpt-oss-120b", new Size(36, 2880, 64, 8, 64, 2880), false);
    }

    private static void sharedExperts(Map<String, SynthShape> all) {
        new Row("deepseek2", 102400, 163840, 10000f, 1e-6f)
                .experts(64, 6)
                .with("leading_dense_block_count", 1)
                .with("feed_forward_length", 10944)
                .with("expert_shared_count", 2)
                .with(SynthKeys.latentAttention(512, 128, 64, 128))
                .with("rope.scaling.type", "yarn")
                .with("rope.scaling.factor", 40f)
                .with("rope.scaling.original_context_length", 4096)
                .with("rope.scaling.yarn_log_multiplier", 0.0707f)
                .put(all, "deepseek-v2-lite", new Size(27, 2048, 16, 1, 192, 1408), false);
        new Row("glm4moe", 151552, 131072, 1e6f, 1e-5f)
                .experts(128, 8)
                .with("leading_dense_block_count", 1)
                .with("feed_forward_length", 10944)
                .with("expert_shared_count", 1)
                .with("rope.dimension_count", 64)
                .optional("blk.*.attn_q.bias", "blk.*.attn_k.bias", "blk.*.attn_v.bias")
                .put(all, "glm-4.5-air", new Size(46, 4096, 96, 8, 128, 1408), false);
    }

    private static void hybrids(Map<String, SynthShape> all) {
        new Row("lfm2", 65536, 128000, 1e6f, 1e-5f)
                .with(SynthKeys.shortConvolutions(16, Set.of(2, 5, 8, 10, 12, 14), 8))
                .put(all, "lfm2-1.2b", new Size(16, 2048, 32, 8, 64, 8192), true);
        new Row("lfm2moe", 65536, 128000, 1e6f, 1e-5f)
                .experts(32, 4)
                .with(SynthKeys.shortConvolutions(24, Set.of(2, 6, 10, 14, 18, 21), 8))
                .with("leading_dense_block_count", 2)
                .with("feed_forward_length", 7168)
                .with("expert_gating_func", 2)
                .optional("blk.*.exp_probs_b.bias")
                .put(all, "lfm2-8b-a1b", new Size(24, 2048, 32, 8, 64, 1792), true);
        Row qwen = new Row("qwen35", 248320, 262144, 1e7f, 1e-6f);
        Row wide = qwen.with(SynthKeys.deltaRule(32));
        wide.put(all, "qwen3.5-4b", new Size(32, 2560, 16, 4, 256, 9216), true);
        wide.put(all, "qwen3.5-9b", new Size(32, 4096, 16, 4, 256, 12288), false);
        qwen.with(SynthKeys.deltaRule(48)).put(all, "qwen3.5-27b", new Size(64, 5120, 24, 4, 256, 17408), false);
        new Row("qwen35moe", 248320, 262144, 1e7f, 1e-6f)
                .experts(256, 8)
                .with(SynthKeys.deltaRule(32))
                .with("expert_shared_feed_forward_length", 512)
                .put(all, "qwen3.5-35b-a3b", new Size(40, 2048, 16, 2, 256, 512), false);
        String layers = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME";
        new Row("nemotron_h_moe", 131072, 262144, 10000f, 1e-5f)
                .experts(128, 6)
                .with(SynthKeys.mixedLayers(layers, 2, 1856))
                .with("expert_shared_feed_forward_length", 3712)
                .with("expert_gating_func", 2)
                .with("expert_weights_norm", true)
                .with("expert_weights_scale", 2.5f)
                .with(SynthKeys.mamba2(64 * 64, 64, 128, 8))
                .optional("blk.*.exp_probs_b.bias", "blk.*.ssm_conv1d.bias")
                .put(all, "nemotron-3-nano-30b-a3b", new Size(layers.length(), 2688, 32, 2, 128, 1856), false);
    }

    private static void others(Map<String, SynthShape> all) {
        String[] fused = {"blk.*.attn_qkv.weight", "blk.*.ffn_up.weight"};
        new Row("phi3", 32064, 4096, 10000f, 1e-5f)
                .optional(fused)
                .with("attention.sliding_window", 2047)
                .put(all, "phi-3-mini-4k", new Size(32, 3072, 32, 32, 96, 8192), false);
        new Row("phi3", 200064, 131072, 10000f, 1e-5f)
                .optional(fused)
                .optional("rope_factors_long.weight", "rope_factors_short.weight")
                .with("rope.dimension_count", 96)
                .with("rope.scaling.attn_factor", (float) Math.sqrt(1 + Math.log(32) / Math.log(4096)))
                .with("rope.scaling.original_context_length", 4096)
                .put(all, "phi-4-mini", new Size(32, 3072, 24, 8, 128, 8192), true);
        new Row("phi3", 100352, 16384, 250000f, 1e-5f)
                .optional(fused)
                .put(all, "phi-4", new Size(40, 5120, 40, 10, 128, 17920), false);
        Row olmo = new Row("olmo2", 100352, 4096, 500000f, 1e-6f);
        olmo.put(all, "olmo-2-1b", new Size(16, 2048, 16, 16, 128, 8192), false);
        olmo.put(all, "olmo-2-7b", new Size(32, 4096, 32, 32, 128, 11008), false);
        new Row("smollm3", 128256, 65536, 5e6f, 1e-6f)
                .put(all, "smollm3-3b", new Size(36, 2048, 16, 4, 128, 11008), true);
        new Row("cohere2", 256000, 132096, 50000f, 1e-5f)
                .with("attention.sliding_window", 4096)
                .with("logit_scale", 0.25f)
                .with("attention.layer_norm_epsilon", 1e-5f)
                .put(all, "command-r7b", new Size(32, 4096, 32, 8, 128, 14336), true);
        Row granite = new Row("granite", 49159, 131072, 1e7f, 1e-5f)
                .with("embedding_scale", 12f)
                .with("residual_scale", 0.22f);
        granite.with("attention.scale", 0.015625f)
                .with("logit_scale", 8f)
                .put(all, "granite-3.3-2b", new Size(40, 2048, 32, 8, 64, 8192), true);
        granite.with("attention.scale", 0.0078125f)
                .with("logit_scale", 16f)
                .put(all, "granite-3.3-8b", new Size(40, 4096, 32, 8, 128, 12800), true);
    }

    /// Sizes of a model.
    record Size(int layers, int embedding, int heads, int headsKv, int headLength, int feedForward) {}

    /// What the models of a family have in common.
    record Row(
            String architecture,
            int vocabulary,
            int context,
            float ropeFreqBase,
            float normEpsilon,
            int experts,
            int expertsUsed,
            Map<String, GgufValue> keys,
            Set<String> optional) {
        Row(String architecture, int vocabulary, int context, float ropeFreqBase, float normEpsilon) {
            this(architecture, vocabulary, context, ropeFreqBase, normEpsilon, 0, 0, Map.of(), Set.of());
        }

        Row with(String key, Object value) {
            return with(new SynthKeys().put(key, value).map());
        }

        Row with(Map<String, GgufValue> further) {
            Map<String, GgufValue> more = new LinkedHashMap<>(keys);
            more.putAll(further);
            return changed(context, experts, expertsUsed, more, optional);
        }

        Row optional(String... tensors) {
            Set<String> more = new TreeSet<>(optional);
            more.addAll(List.of(tensors));
            return changed(context, experts, expertsUsed, keys, more);
        }

        Row experts(int count, int used) {
            return changed(context, count, used, keys, optional);
        }

        Row context(int length) {
            return changed(length, experts, expertsUsed, keys, optional);
        }

        private Row changed(int length, int count, int used, Map<String, GgufValue> further, Set<String> tensors) {
            return new Row(architecture, vocabulary, length, ropeFreqBase, normEpsilon, count, used, further, tensors);
        }

        void put(Map<String, SynthShape> all, String name, Size size, boolean tied) {
            put(all, name, size, tied, RopeFactors.NONE);
        }

        void put(Map<String, SynthShape> all, String name, Size size, boolean tied, RopeFactors ropeFactors) {
            all.put(
                    name,
                    new SynthShape(
                            name,
                            architecture,
                            size.layers,
                            size.embedding,
                            size.heads,
                            size.headsKv,
                            size.headLength,
                            size.feedForward,
                            experts,
                            expertsUsed,
                            vocabulary,
                            context,
                            ropeFreqBase,
                            normEpsilon,
                            ropeFactors,
                            tied,
                            1,
                            keys,
                            optional));
        }
    }
}
