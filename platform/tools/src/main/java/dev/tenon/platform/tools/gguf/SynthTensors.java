package dev.tenon.platform.tools.gguf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.LongStream;

/// The tensors of a model of each architecture, by the names of GGUF.
final class SynthTensors {
    /// The architectures whose tensors are known.
    static final Set<String> ARCHITECTURES = Set.of(
            "cohere2",
            "deepseek2",
            "gemma2",
            "gemma3",
            "gemma4",
            "glm4moe",
            "gpt-oss",
            "granite",
            "lfm2",
            "lfm2moe",
            "llama",
            "nemotron_h_moe",
            "olmo2",
            "olmoe",
            "phi3",
            "qwen2",
            "qwen3",
            "qwen35",
            "qwen35moe",
            "qwen3moe",
            "smollm3");

    /// Norms of the attention's and the feed-forward's result.
    private static final Set<String> NORMS_AFTER = Set.of("gemma2", "gemma3", "olmo2");
    /// Architectures whose blocks have no norm of that name before the feed-forward.
    private static final Set<String> NO_FFN_NORM = Set.of("cohere2", "gpt-oss", "olmo2");
    private static final Set<String> HEAD_NORMS = Set.of("gemma3", "qwen3", "qwen3moe");
    /// Norms of queries and keys over all heads together.
    private static final Set<String> ROW_NORMS = Set.of("olmo2", "olmoe");
    private static final Set<String> QKV_BIASES = Set.of("gpt-oss", "qwen2");
    /// Those of models whose layers differ.
    private static final Map<String, Function<SynthShape, List<Tensor>>> OWN = Map.of(
            "deepseek2", SharedExpertTensors::of,
            "gemma4", Gemma4Tensors::of,
            "glm4moe", SharedExpertTensors::of,
            "lfm2", Lfm2Tensors::of,
            "lfm2moe", Lfm2Tensors::of,
            "nemotron_h_moe", NemotronTensors::of,
            "qwen35", Qwen35Tensors::of,
            "qwen35moe", Qwen35Tensors::of);

    private final SynthShape shape;
    private final String architecture;
    private final List<Tensor> all = new ArrayList<>();

    /// A tensor to be written.
    ///
    /// @param name its name
    /// @param shape its lengths, the fastest first
    record Tensor(String name, List<Long> shape) {
        long elements() {
            return shape.stream().reduce(1L, Math::multiplyExact);
        }
    }

    private SynthTensors(SynthShape shape) {
        this.shape = shape;
        this.architecture = shape.architecture();
    }

    /// {@return the tensors of a model, those outside layers first, then layer by layer, by name}
    ///
    /// @param shape hyperparameters
    static List<Tensor> of(SynthShape shape) {
        return new SynthTensors(shape).run();
    }

    /// {@return the key of the norms' epsilon, without the architecture}
    ///
    /// @param architecture one of [#ARCHITECTURES]
    static String normEpsilonKey(String architecture) {
        return "attention.layer_norm_" + (architecture.equals("cohere2") ? "epsilon" : "rms_epsilon");
    }

    private List<Tensor> run() {
        long embedding = shape.embedding();
        if (!shape.tied()) {
            add("output.weight", embedding, shape.vocabulary());
        }
        if (!architecture.startsWith("lfm2")) {
            add("output_norm.weight", embedding);
        }
        if (shape.ropeFactors()) {
            add("rope_freqs.weight", shape.headLength() / 2);
        }
        if (shape.keys().containsKey("rope.scaling.attn_factor")) {
            Object turned = shape.keys().get("rope.dimension_count").value();
            long pairs = ((Number) turned).longValue() / 2;
            add("rope_factors_long.weight", pairs);
            add("rope_factors_short.weight", pairs);
        }
        add("token_embd.weight", embedding, shape.vocabulary());
        all.addAll(OWN.getOrDefault(architecture, SynthTensors::layers).apply(shape));
        all.sort(Comparator.comparingInt((Tensor tensor) -> QuantMix.layer(tensor.name()))
                .thenComparing(Tensor::name));
        return all;
    }

    private static List<Tensor> layers(SynthShape same) {
        SynthTensors layers = new SynthTensors(same);
        for (int layer = 0; layer < same.layers(); layer++) {
            String prefix = "blk." + layer + ".";
            layers.attention(prefix);
            if (same.experts() > 0) {
                layers.experts(prefix);
            } else {
                layers.feedForward(prefix);
            }
        }
        return layers.all;
    }

    private void attention(String prefix) {
        long embedding = shape.embedding();
        long queries = shape.queryLength();
        long keys = shape.keyLength();
        if (!architecture.equals("olmo2")) {
            add(prefix + "attn_norm.weight", embedding);
        }
        if (architecture.equals("phi3")) {
            add(prefix + "attn_qkv.weight", embedding, queries + 2 * keys);
        } else {
            add(prefix + "attn_q.weight", embedding, queries);
            add(prefix + "attn_k.weight", embedding, keys);
            add(prefix + "attn_v.weight", embedding, keys);
        }
        if (QKV_BIASES.contains(architecture)) {
            add(prefix + "attn_q.bias", queries);
            add(prefix + "attn_k.bias", keys);
            add(prefix + "attn_v.bias", keys);
        }
        if (HEAD_NORMS.contains(architecture)) {
            add(prefix + "attn_q_norm.weight", shape.headLength());
            add(prefix + "attn_k_norm.weight", shape.headLength());
        } else if (ROW_NORMS.contains(architecture)) {
            add(prefix + "attn_q_norm.weight", queries);
            add(prefix + "attn_k_norm.weight", keys);
        }
        add(prefix + "attn_output.weight", queries, embedding);
        if (architecture.equals("gpt-oss")) {
            add(prefix + "attn_output.bias", embedding);
            add(prefix + "attn_sinks.weight", shape.heads());
            add(prefix + "post_attention_norm.weight", embedding);
        }
        if (NORMS_AFTER.contains(architecture)) {
            add(prefix + "post_attention_norm.weight", embedding);
            add(prefix + "post_ffw_norm.weight", embedding);
        }
        if (!NO_FFN_NORM.contains(architecture)) {
            add(prefix + "ffn_norm.weight", embedding);
        }
    }

    private void feedForward(String prefix) {
        long embedding = shape.embedding();
        long length = shape.feedForward();
        if (architecture.equals("phi3")) {
            add(prefix + "ffn_up.weight", embedding, 2 * length);
        } else {
            add(prefix + "ffn_gate.weight", embedding, length);
            add(prefix + "ffn_up.weight", embedding, length);
        }
        add(prefix + "ffn_down.weight", length, embedding);
    }

    private void experts(String prefix) {
        long embedding = shape.embedding();
        long length = shape.feedForward();
        long experts = shape.experts();
        add(prefix + "ffn_gate_inp.weight", embedding, experts);
        add(prefix + "ffn_gate_exps.weight", embedding, length, experts);
        add(prefix + "ffn_up_exps.weight", embedding, length, experts);
        add(prefix + "ffn_down_exps.weight", length, embedding, experts);
        if (architecture.equals("gpt-oss")) {
            add(prefix + "ffn_gate_inp.bias", experts);
            add(prefix + "ffn_gate_exps.bias", length, experts);
            add(prefix + "ffn_up_exps.bias", length, experts);
            add(prefix + "ffn_down_exps.bias", embedding, experts);
        }
    }

    private void add(String name, long... lengths) {
        all.add(new Tensor(name, LongStream.of(lengths).boxed().toList()));
    }
}
