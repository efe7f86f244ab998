package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;

/// Adds whole layers of experts to a graph, from the router to the sum of their results, with the tensor names of
/// GGUF.
public final class ExpertBlocks {
    private ExpertBlocks() {}

    /// {@return the weighted sum of `down(activation(gate(x)) * up(x))` of the chosen experts, and what a shared one
    ///     (`_shexp`) makes of every token, `[T, E]`}
    ///
    /// @param d have the graph
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`
    /// @param shape how experts are chosen, counts and widths
    /// @param sharedWidth elements between the matrices of the shared expert; 0 for none
    /// @param activation of the gates
    public static Value gated(
            DecoderBlocks d, String blk, Value x, ExpertShape shape, int sharedWidth, Activation activation) {
        Value chosen = d.experts(blk, x, d.router(blk, x, shape), shape, activation);
        return sharedWidth == 0
                ? chosen
                : d.graph().add(blk + "ffn_both", chosen, d.gated(blk, "_shexp", x, sharedWidth, activation));
    }

    /// {@return the weighted sum of `down(activation(up(x)))` of the chosen experts, `[T, E]`}
    ///
    /// @param d have the graph
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`
    /// @param shape how experts are chosen, counts and widths
    /// @param activation what is between the matrices
    public static Value ungated(DecoderBlocks d, String blk, Value x, ExpertShape shape, Activation activation) {
        GraphBuilder g = d.graph();
        int e = d.config().embeddingLength();
        ExpertOp.Router router = d.router(blk, x, shape);
        Value up = d.expert(blk + "ffn_up_exps", x, router, shape, e, shape.width());
        Value hidden = g.activate(blk + "ffn_act_exps", up, activation);
        Value down = d.expert(blk + "ffn_down_exps", hidden, router, shape, shape.width(), e);
        return g.weightedSum(blk + "ffn_moe", down, router.shares());
    }
}
