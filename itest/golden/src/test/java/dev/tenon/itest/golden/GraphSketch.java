package dev.tenon.itest.golden;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.Optional;

/// Builds graphs that take the shapes of their weights from the file, so that what a test says is the structure.
final class GraphSketch {
    final GraphBuilder b;
    final int heads;
    final int headsKv;
    final int headDim;
    final float eps;
    private final GgufFile file;
    private final String arch;

    GraphSketch(GgufFile file) {
        this.file = file;
        arch = file.metadata().requiredString("general.architecture");
        b = new GraphBuilder(arch);
        heads = integer("attention.head_count", 0);
        headsKv = integer("attention.head_count_kv", heads);
        headDim = integer("attention.key_length", integer("embedding_length", 0) / heads);
        eps = number("attention.layer_norm_rms_epsilon", number("attention.layer_norm_epsilon", 0));
    }

    int integer(String key, int otherwise) {
        return file.metadata().integer(arch + "." + key).orElse(otherwise);
    }

    float number(String key, float otherwise) {
        return (float) file.metadata().number(arch + "." + key).orElse(otherwise);
    }

    boolean has(String tensor) {
        return file.tensor(tensor).isPresent();
    }

    Weight weight(String name) {
        TensorInfo info = file.tensor(name).orElseThrow(() -> new IllegalStateException("no tensor " + name));
        int cols = (int) info.cols();
        return info.shape().size() < 3
                ? new Weight(name, cols, (int) info.rows())
                : new Weight(
                        name,
                        cols,
                        info.shape().get(1).intValue(),
                        info.shape().get(2).intValue());
    }

    private Optional<Weight> maybe(String name) {
        return has(name) ? Optional.of(weight(name)) : Optional.empty();
    }

    Value linear(String name, Value x) {
        return b.linear(name, x, weight(name + ".weight"), maybe(name + ".bias"));
    }

    Value part(String name, Value x, int from, int to) {
        return b.linear(name + "." + from, x, weight(name + ".weight").rows(from, to), Optional.empty());
    }

    Value rms(String name, Value x) {
        return b.rmsNorm(name, x, weight(name + ".weight"), eps);
    }

    Value layerNorm(String name, Value x) {
        return b.layerNorm(name, x, weight(name + ".weight"), maybe(name + ".bias"), eps);
    }

    RopeParams rope(RopeParams.Pairing pairing, float base) {
        int dim = integer("rope.dimension_count", headDim);
        return RopeParams.builder(headDim, pairing, base).ropeDim(dim).build();
    }

    Value attention(String name, Value q, Value k, Value v, int layer, int window, boolean causal, float scale) {
        Value out = b.value(name, q.width());
        Optional<Weight> sinks = maybe("blk." + layer + ".attn_sinks.weight");
        b.add(new CoreOp.Attention(
                q,
                k,
                v,
                layer,
                AttentionParams.builder(heads, headsKv, scale)
                        .slidingWindow(window)
                        .causal(causal)
                        .sinks(sinks)
                        .build(),
                out));
        return out;
    }

    /// Attention with projections of their own and rotation, norms of queries and keys where the file has them.
    Value attention(String p, Value x, Optional<RopeParams> rope, int layer, int window, boolean causal) {
        Value q = normed(p + "attn_q", linear(p + "attn_q", x));
        Value k = normed(p + "attn_k", linear(p + "attn_k", x));
        Value v = linear(p + "attn_v", x);
        return attention(p, q, k, v, rope, layer, window, causal);
    }

    /// Attention with one matrix for queries, keys and values.
    Value fusedAttention(String p, Value x, RopeParams rope, int layer, int window, boolean causal) {
        int qWidth = heads * headDim;
        int kvWidth = headsKv * headDim;
        Value q = part(p + "attn_qkv", x, 0, qWidth);
        Value k = part(p + "attn_qkv", x, qWidth, qWidth + kvWidth);
        Value v = part(p + "attn_qkv", x, qWidth + kvWidth, qWidth + 2 * kvWidth);
        return attention(p, q, k, v, Optional.of(rope), layer, window, causal);
    }

    private Value attention(
            String p, Value q, Value k, Value v, Optional<RopeParams> rope, int layer, int window, boolean causal) {
        Value turnedQ = rope.isPresent() ? b.rope(p + "q", q, rope.get()) : q;
        Value turnedK = rope.isPresent() ? b.rope(p + "k", k, rope.get()) : k;
        float scale = (float) (1 / Math.sqrt(headDim));
        return linear(p + "attn_output", attention(p + "kqv", turnedQ, turnedK, v, layer, window, causal, scale));
    }

    private Value normed(String name, Value x) {
        return has(name + "_norm.weight") ? rms(name + "_norm", x) : x;
    }

    /// `down(act(gate x) * up x)` with three matrices whose names end alike.
    Value gated(String p, String ending, Value x, Activation activation) {
        Value gate = b.activate(p + "act" + ending, linear(p + "ffn_gate" + ending, x), activation);
        Value up = linear(p + "ffn_up" + ending, x);
        return linear(p + "ffn_down" + ending, b.multiply(p + "par" + ending, gate, up));
    }

    /// The same with the matrices of experts.
    Value experts(String p, Value x, RouterParams params) {
        ExpertOp.Router router = b.router(p + "router", linear(p + "ffn_gate_inp", x), params);
        Value gate = expert(p + "ffn_gate_exps", x, router);
        Value up = expert(p + "ffn_up_exps", x, router);
        Value hidden = arch.equals("gpt-oss")
                ? b.swigluOai(p + "glu", gate, up, 1.702f, 7)
                : b.multiply(p + "par", b.activate(p + "act", gate, Activation.SILU), up);
        return b.weightedSum(p + "moe", expert(p + "ffn_down_exps", hidden, router), router.shares());
    }

    private Value expert(String name, Value x, ExpertOp.Router router) {
        return b.expertLinear(name, x, router.chosen(), weight(name + ".weight"), maybe(name + ".bias"));
    }
}
