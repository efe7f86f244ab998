package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;

/// Adds layers with a state to a graph, with the tensor names of GGUF.
public final class StateBlocks {
    private final DecoderBlocks blocks;
    private final GraphBuilder graph;
    private final StateShape shape;

    /// Adds to the graph of other blocks.
    ///
    /// @param blocks have the graph
    /// @param shape sizes of the layers
    public StateBlocks(DecoderBlocks blocks, StateShape shape) {
        this.blocks = blocks;
        this.graph = blocks.graph();
        this.shape = shape;
    }

    /// {@return what `ssm_conv1d` makes of the last tokens, activated, with a bias if the file has one}
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, convolved]`
    public Value convolved(String blk, Value x) {
        String name = blk + "ssm_conv1d";
        Weight taps = new Weight(name + ".weight", shape.taps(), x.width());
        Value out = graph.shortConvolution(name, x, taps, blocks.vector(name + ".bias", x.width()));
        return graph.activate(blk + "ssm_conv_act", out, Activation.SILU);
    }

    /// {@return a Mamba-2 layer from the normed input to the projection of its result, `[T, E]`}
    ///
    /// `ssm_in` holds the rows of the gate, of what is convolved and of the step sizes. The result of the scan is
    /// gated, then normed group by group where the file has `ssm_norm`.
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`
    public Value mamba2(String blk, Value x) {
        int inner = shape.inner();
        int rows = inner + shape.convolved() + shape.heads();
        String in = blk + "ssm_in";
        Value gate = blocks.linearRows(in, blk + "ssm_gate", x, rows, 0, inner);
        Value xbc = blocks.linearRows(in, blk + "ssm_xbc", x, rows, inner, inner + shape.convolved());
        Value step = blocks.linearRows(in, blk + "ssm_step", x, rows, inner + shape.convolved(), rows);
        Value scanned = graph.value(blk + "ssm_scan", inner);
        graph.add(new StateOp.SelectiveScan(
                convolved(blk, xbc),
                step,
                new Weight(blk + "ssm_a", 1, shape.heads()),
                new Weight(blk + "ssm_d", 1, shape.heads()),
                Weight.vector(blk + "ssm_dt.bias", shape.heads()),
                shape.groups(),
                scanned));
        Value gated =
                graph.multiply(blk + "ssm_gated", scanned, graph.activate(blk + "ssm_gate_act", gate, Activation.SILU));
        return blocks.linear(
                blk + "ssm_out",
                normed(blk + "ssm_norm", gated),
                blocks.config().embeddingLength());
    }

    private Value normed(String name, Value x) {
        int groups = shape.groups();
        return blocks.has(name + ".weight")
                ? graph.groupedRmsNorm(
                        name,
                        x,
                        new Weight(name + ".weight", x.width() / groups, groups),
                        blocks.config().rmsEps())
                : x;
    }
}
