package dev.tenon.models.qwen3;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;

/// Experts of which all tokens use one, as far as a sigmoid opens it.
final class SharedExpert {
    private static final int MAX_WIDTH = 1 << 24;

    private SharedExpert() {}

    /// {@return the chosen experts' result and the shared one's, `[T, E]`}
    ///
    /// @param blk prefix of the layer's tensors
    /// @param x `[T, E]`
    /// @param shape of the others
    static Value beside(DecoderBlocks d, ModelKeys keys, String blk, Value x, ExpertShape shape) {
        GraphBuilder g = d.graph();
        int width = keys.integer("expert_shared_feed_forward_length", 1, MAX_WIDTH);
        Value chosen = d.experts(blk, x, d.router(blk, x, shape), shape, Activation.SILU);
        Value shared = d.gated(blk, "_shexp", x, width, Activation.SILU);
        Value open =
                g.activate(blk + "ffn_gate_act_shexp", d.linear(blk + "ffn_gate_inp_shexp", x, 1), Activation.SIGMOID);
        return g.add(blk + "ffn_sum", chosen, g.weightedSum(blk + "ffn_shared", shared, open));
    }
}
