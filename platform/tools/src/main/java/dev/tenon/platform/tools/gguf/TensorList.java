package dev.tenon.platform.tools.gguf;

import dev.tenon.platform.tools.gguf.SynthTensors.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/// Collects the tensors of a model whose layers differ. `e` is the length of the residual stream.
final class TensorList {
    private final List<Tensor> all = new ArrayList<>();

    /// {@return a number among a shape's further keys}
    static long number(SynthShape shape, String key) {
        return ((Number) shape.keys().get(key).value()).longValue();
    }

    List<Tensor> tensors() {
        return all;
    }

    void add(String name, long... lengths) {
        all.add(new Tensor(name, LongStream.of(lengths).boxed().toList()));
    }

    /// Adds the matrices of an attention.
    ///
    /// @param queries length of all query heads
    /// @param keys length of all key heads
    void attention(String blk, long e, long queries, long keys) {
        add(blk + "attn_q.weight", e, queries);
        add(blk + "attn_k.weight", e, keys);
        add(blk + "attn_v.weight", e, keys);
        add(blk + "attn_output.weight", queries, e);
    }

    /// Adds a gated feed-forward layer.
    ///
    /// @param suffix after the names, such as `_shexp`
    void gated(String blk, String suffix, long e, long width) {
        add(blk + "ffn_gate" + suffix + ".weight", e, width);
        add(blk + "ffn_up" + suffix + ".weight", e, width);
        add(blk + "ffn_down" + suffix + ".weight", width, e);
    }

    /// Adds a router and gated experts.
    void experts(String blk, SynthShape shape) {
        add(blk + "ffn_gate_exps.weight", shape.embedding(), shape.feedForward(), shape.experts());
        expertsWithoutGate(blk, shape);
    }

    /// Adds a router and experts of two matrices.
    void expertsWithoutGate(String blk, SynthShape shape) {
        add(blk + "ffn_gate_inp.weight", shape.embedding(), shape.experts());
        add(blk + "ffn_up_exps.weight", shape.embedding(), shape.feedForward(), shape.experts());
        add(blk + "ffn_down_exps.weight", shape.feedForward(), shape.embedding(), shape.experts());
    }
}
