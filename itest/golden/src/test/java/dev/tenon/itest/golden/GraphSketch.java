package dev.tenon.itest.golden;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.Optional;

/// Builds graphs that take the shapes of their weights from the file, so that what a test says is the structure.
final class GraphSketch {
    final GraphBuilder b;
    private final int heads;
    private final int headsKv;
    private final int headDim;
    private final float eps;
    private final GgufFile file;
    private final String arch;

    GraphSketch(GgufFile file) {
        this.file = file;
        arch = file.metadata().requiredString("general.architecture");
        b = new GraphBuilder(arch);
        heads = integer("attention.head_count", 0);
        headsKv = integer("attention.head_count_kv", heads);
        headDim = integer("attention.key_length", integer("embedding_length", 0) / heads);
        eps = number("attention.layer_norm_rms_epsilon", 0);
    }

    int integer(String key, int otherwise) {
        return file.metadata().integer(arch + "." + key).orElse(otherwise);
    }

    float number(String key, float otherwise) {
        return (float) file.metadata().number(arch + "." + key).orElse(otherwise);
    }

    Weight weight(String name) {
        TensorInfo info = file.tensor(name).orElseThrow(() -> new IllegalStateException("no tensor " + name));
        return new Weight(name, (int) info.cols(), (int) info.rows());
    }

    Value linear(String name, Value x) {
        return b.linear(name, x, weight(name + ".weight"), Optional.empty());
    }

    Value rms(String name, Value x) {
        return b.rmsNorm(name, x, weight(name + ".weight"), eps);
    }

    RopeParams rope(RopeParams.Pairing pairing, float base) {
        return RopeParams.builder(headDim, pairing, base).build();
    }

    /// Attention without a mask, with norms of queries and keys.
    Value attention(String p, Value x, RopeParams rope, int layer, int window) {
        Value q = b.rope(p + "q", rms(p + "attn_q_norm", linear(p + "attn_q", x)), rope);
        Value k = b.rope(p + "k", rms(p + "attn_k_norm", linear(p + "attn_k", x)), rope);
        AttentionParams params = AttentionParams.builder(heads, headsKv, (float) (1 / Math.sqrt(headDim)))
                .slidingWindow(window)
                .causal(false)
                .build();
        Value attended = b.attention(p + "kqv", q, k, linear(p + "attn_v", x), layer, params);
        return linear(p + "attn_output", attended);
    }

    /// `down(act(gate x) * up x)`.
    Value gated(String p, Value x, Activation activation) {
        Value gate = b.activate(p + "act", linear(p + "ffn_gate", x), activation);
        return linear(p + "ffn_down", b.multiply(p + "par", gate, linear(p + "ffn_up", x)));
    }
}
