package dev.tenon.itest.testkit.models;

import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import java.util.Optional;

/// Models whose sequences have a state.
public final class StateModels {
    private StateModels() {}

    /// Makes a model with one of each op with a state, and attention, each with a residual.
    ///
    /// @param seed seed of the weights
    /// @param format format of the matrices
    /// @param width width of the residual stream, a multiple of 8 and of whole blocks
    /// @return the model; the caller closes it
    public static Model hybrid(long seed, QuantFormat format, int width) {
        return RandomModels.ops("states and attention", seed, width, format, StateModels::layers);
    }

    private static Value layers(GraphBuilder b, Value x) {
        int width = x.width();
        Value sum = b.add(
                "after_conv", x, b.shortConvolution("conv", x, new Weight("conv.weight", 4, width), Optional.empty()));
        sum = b.add("after_scan", sum, project(b, scan(b, sum), "scan_out", width));
        sum = b.add("after_delta", sum, project(b, deltaRule(b, sum), "delta_out", width));
        Value q = project(b, sum, "q", width);
        Value k = project(b, sum, "k", width / 2);
        Value v = project(b, sum, "v", width / 2);
        Value attended = b.attention("attn", q, k, v, 0, 4, 2, (float) (1 / Math.sqrt(width / 4)));
        return b.add("after_attn", sum, project(b, attended, "attn_out", width));
    }

    private static Value scan(GraphBuilder b, Value x) {
        Value out = b.value("scan", 2 * x.width());
        b.add(new StateOp.SelectiveScan(
                project(b, x, "xbc", 2 * x.width() + 4 * 16),
                project(b, x, "step", 4),
                Weight.vector("scan.ssm_a", 4),
                Weight.vector("scan.ssm_d", 4),
                Weight.vector("scan.ssm_dt.bias", 4),
                2,
                out));
        return out;
    }

    private static Value deltaRule(GraphBuilder b, Value x) {
        Value out = b.value("delta", 2 * x.width());
        b.add(new StateOp.GatedDeltaRule(
                project(b, x, "qkv", 2 * x.width() + 4 * 16),
                project(b, x, "alpha", 4),
                project(b, x, "beta", 4),
                Weight.vector("delta.ssm_a", 4),
                Weight.vector("delta.ssm_dt.bias", 4),
                2,
                StateOp.KeyHeads.CYCLIC,
                1e-6f,
                out));
        return out;
    }

    private static Value project(GraphBuilder b, Value x, String name, int rows) {
        return b.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }
}
