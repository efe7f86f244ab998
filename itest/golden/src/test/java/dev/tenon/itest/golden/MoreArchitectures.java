package dev.tenon.itest.golden;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;

/// Graphs of architectures that no bundle has yet: what the ops of the api have to be able to say.
final class MoreArchitectures {
    private MoreArchitectures() {}

    /// A decoder's blocks without its mask, symmetric windows, and two layers after pooling.
    static Graph gemmaEmbedding(GgufFile file) {
        GraphSketch s = new GraphSketch(file);
        Value x = s.b.embedding("embd", s.weight("token_embd.weight"));
        x = s.b.scale("scaled", x, (float) Math.sqrt(s.integer("embedding_length", 0)));
        for (int l = 0; l < s.integer("block_count", 0); l++) {
            String p = "blk." + l + ".";
            boolean windowed = l % 6 < 5;
            RopeParams rope = s.rope(Pairing.HALF_SPLIT, windowed ? 10_000 : s.number("rope.freq_base", 0));
            int window = windowed ? s.integer("attention.sliding_window", 0) : 0;
            Value attended = s.attention(p, s.rms(p + "attn_norm", x), rope, l, window);
            x = s.b.add(p + "sa", x, s.rms(p + "post_attention_norm", attended));
            Value forward = s.gated(p, s.rms(p + "ffn_norm", x), Activation.GELU_TANH);
            x = s.b.add(p + "out", x, s.rms(p + "post_ffw_norm", forward));
        }
        Value mean = s.b.pool("pooled", s.rms("output_norm", x), Pooling.MEAN);
        return s.b.build(s.linear("dense_3", s.linear("dense_2", mean)));
    }
}
