package dev.tenon.itest.golden;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.Optional;

/// Graphs of architectures that no bundle has yet: what the ops of the api have to be able to say.
final class MoreArchitectures {
    private final GraphSketch s;

    private MoreArchitectures(GgufFile file) {
        s = new GraphSketch(file);
    }

    static Graph of(GgufFile file) {
        MoreArchitectures made = new MoreArchitectures(file);
        String arch = file.metadata().requiredString("general.architecture");
        return switch (arch) {
            case "olmoe", "qwen3moe" -> made.decoder(arch.equals("qwen3moe"));
            case "glm4moe" -> made.glm4moe();
            case "gpt-oss" -> made.gptOss();
            case "phi3" -> made.phi3();
            case "cohere2" -> made.cohere2();
            case "bert", "nomic-bert" -> made.bert(arch.equals("bert"));
            case "modern-bert" -> made.modernBert();
            case "gemma-embedding" -> made.gemmaEmbedding();
            default -> throw new IllegalArgumentException(arch);
        };
    }

    private Value embedding() {
        return s.b.embedding("embd", s.weight("token_embd.weight"));
    }

    private int blocks() {
        return s.integer("block_count", 0) - s.integer("nextn_predict_layers", 0);
    }

    private Graph logits(Value x) {
        Value last = s.rms("output_norm", s.b.selectRows("rows", x));
        return s.b.build(head(last));
    }

    private Value head(Value x) {
        Weight head = s.weight(s.has("output.weight") ? "output.weight" : "token_embd.weight");
        return s.b.linear("logits", x, head, Optional.empty());
    }

    private RopeParams halves() {
        return s.rope(Pairing.HALF_SPLIT, s.number("rope.freq_base", 10_000));
    }

    private Graph decoder(boolean normalise) {
        RouterParams router = RouterParams.builder(Gating.SOFTMAX, s.integer("expert_used_count", 0))
                .normalise(normalise)
                .build();
        Value x = embedding();
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            Value h = s.rms(p + "attn_norm", x);
            x = s.b.add(p + "sa", x, s.attention(p, h, Optional.of(halves()), l, 0, true));
            x = s.b.add(p + "out", x, s.experts(p, s.rms(p + "ffn_norm", x), router));
        }
        return logits(x);
    }

    /// Sigmoid gating with a bias for the choice, a shared expert, the first block dense.
    private Graph glm4moe() {
        Value x = embedding();
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            Value h = s.rms(p + "attn_norm", x);
            x = s.b.add(p + "sa", x, s.attention(p, h, Optional.of(halves()), l, 0, true));
            h = s.rms(p + "post_attention_norm", x);
            if (l < s.integer("leading_dense_block_count", 0)) {
                x = s.b.add(p + "out", x, s.gated(p, "", h, Activation.SILU));
                continue;
            }
            RouterParams router = RouterParams.builder(Gating.SIGMOID, s.integer("expert_used_count", 0))
                    .normalise(true)
                    .scale(s.number("expert_weights_scale", 1))
                    .bias(Optional.of(s.weight(p + "exp_probs_b.bias")))
                    .build();
            Value shared = s.gated(p, "_shexp", h, Activation.SILU);
            x = s.b.add(p + "out", x, s.b.add(p + "ffn", s.experts(p, h, router), shared));
        }
        return logits(x);
    }

    /// Sinks, windows on even blocks, YaRN, biased experts.
    private Graph gptOss() {
        float factor = s.number("rope.scaling.factor", 1);
        RopeParams plain = halves();
        RopeParams rope = RopeParams.builder(plain.headDim(), plain.pairing(), plain.freqBase())
                .ropeDim(plain.ropeDim())
                .yarn(Optional.of(new Yarn(factor, s.integer("rope.scaling.original_context_length", 0), 32, 1)))
                .attentionFactor((float) (1 + 0.1 * Math.log(factor)))
                .build();
        RouterParams router = RouterParams.builder(Gating.SOFTMAX, s.integer("expert_used_count", 0))
                .normalise(true)
                .build();
        Value x = embedding();
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            int window = l % 2 == 0 ? s.integer("attention.sliding_window", 0) : 0;
            Value h = s.rms(p + "attn_norm", x);
            x = s.b.add(p + "sa", x, s.attention(p, h, Optional.of(rope), l, window, true));
            x = s.b.add(p + "out", x, s.experts(p, s.rms(p + "post_attention_norm", x), router));
        }
        return logits(x);
    }

    /// Fused matrices: q, k and v; gate and up.
    private Graph phi3() {
        int width = s.integer("feed_forward_length", 0);
        Value x = embedding();
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            Value h = s.rms(p + "attn_norm", x);
            x = s.b.add(p + "sa", x, s.fusedAttention(p, h, halves(), l, 0, true));
            x = s.b.add(p + "out", x, fusedGated(p, s.rms(p + "ffn_norm", x), width, Activation.SILU));
        }
        return logits(x);
    }

    private Value fusedGated(String p, Value x, int width, Activation activation) {
        Value gate = s.b.activate(p + "act", s.part(p + "ffn_up", x, 0, width), activation);
        Value up = s.part(p + "ffn_up", x, width, 2 * width);
        return s.linear(p + "ffn_down", s.b.multiply(p + "par", gate, up));
    }

    /// Layer norm, attention beside the feed-forward, every fourth block without rotation and window.
    private Graph cohere2() {
        Value x = embedding();
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            boolean windowed = l % 4 < 3;
            Optional<RopeParams> rope = windowed
                    ? Optional.of(s.rope(Pairing.INTERLEAVED, s.number("rope.freq_base", 0)))
                    : Optional.empty();
            Value h = s.layerNorm(p + "attn_norm", x);
            int window = windowed ? s.integer("attention.sliding_window", 0) : 0;
            Value attended = s.attention(p, h, rope, l, window, true);
            x = s.b.add(p + "out", x, s.b.add(p + "both", attended, s.gated(p, "", h, Activation.SILU)));
        }
        Value last = s.layerNorm("output_norm", s.b.selectRows("rows", x));
        return s.b.build(s.b.scale("scaled", head(last), s.number("logit_scale", 1)));
    }

    /// Norms after the sums; positions by vectors, or by rotation and with fused matrices.
    private Graph bert(boolean positions) {
        Value x = s.b.add(
                "typed",
                embedding(),
                s.b.repeat("type", s.weight("token_types.weight").rows(0, 1)));
        if (positions) {
            x = s.b.add("placed", x, s.b.positionEmbedding("pos", s.weight("position_embd.weight")));
        }
        x = s.layerNorm("token_embd_norm", x);
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            Value attended = positions
                    ? s.attention(p, x, Optional.empty(), l, 0, false)
                    : s.fusedAttention(p, x, halves(), l, 0, false);
            x = s.layerNorm(p + "attn_output_norm", s.b.add(p + "sa", x, attended));
            Value forward = positions
                    ? s.linear(p + "ffn_down", s.b.activate(p + "act", s.linear(p + "ffn_up", x), Activation.GELU_TANH))
                    : s.gated(p, "", x, Activation.SILU);
            x = s.layerNorm(p + "layer_output_norm", s.b.add(p + "out", x, forward));
        }
        return pooled(x);
    }

    private Graph pooled(Value x) {
        s.b.output("hidden", x);
        return s.b.build(s.b.pool("pooled", x, s.integer("pooling_type", 0) == 1 ? Pooling.MEAN : Pooling.CLS));
    }

    /// Symmetric windows with a rotation of their own.
    private Graph modernBert() {
        Value x = s.layerNorm("token_embd_norm", embedding());
        int width = s.integer("feed_forward_length", 0);
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            boolean all = l % 3 == 0;
            RopeParams rope = s.rope(Pairing.HALF_SPLIT, s.number(all ? "rope.freq_base" : "rope.freq_base_swa", 0));
            Value h = l == 0 ? x : s.layerNorm(p + "attn_norm", x);
            int window = all ? 0 : s.integer("attention.sliding_window", 0);
            x = s.b.add(p + "sa", x, s.fusedAttention(p, h, rope, l, window, false));
            Value forward = fusedGated(p, s.layerNorm(p + "ffn_norm", x), width, Activation.GELU_TANH);
            x = s.b.add(p + "out", x, forward);
        }
        return pooled(s.layerNorm("output_norm", x));
    }

    /// A decoder's blocks without its mask, and two layers after pooling.
    private Graph gemmaEmbedding() {
        Value x = s.b.scale("scaled", embedding(), (float) Math.sqrt(s.integer("embedding_length", 0)));
        for (int l = 0; l < blocks(); l++) {
            String p = "blk." + l + ".";
            boolean windowed = l % 6 < 5;
            RopeParams rope = s.rope(Pairing.HALF_SPLIT, windowed ? 10_000 : s.number("rope.freq_base", 0));
            int window = windowed ? s.integer("attention.sliding_window", 0) : 0;
            Value attended = s.attention(p, s.rms(p + "attn_norm", x), Optional.of(rope), l, window, false);
            x = s.b.add(p + "sa", x, s.rms(p + "post_attention_norm", attended));
            Value forward = s.gated(p, "", s.rms(p + "ffn_norm", x), Activation.GELU_TANH);
            x = s.b.add(p + "out", x, s.rms(p + "post_ffw_norm", forward));
        }
        Value mean = s.b.pool("pooled", s.rms("output_norm", x), Pooling.MEAN);
        return s.b.build(s.linear("dense_3", s.linear("dense_2", mean)));
    }
}
