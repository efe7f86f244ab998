package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.launch.Emission;
import dev.tenon.kernels.nvidia.launch.Slot;
import java.util.List;

/// Norms of rows and of their groups.
final class NormRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(CoreOp.RmsNorm.class, NormRows::rmsNorm),
            OpRow.fast(CoreOp.LayerNorm.class, NormRows::defined),
            OpRow.fast(PartOp.GroupedRmsNorm.class, NormRows::groupedRmsNorm),
            OpRow.fast(PartOp.GroupedLayerNorm.class, NormRows::groupedLayerNorm),
            OpRow.fast(PartOp.PlainRmsNorm.class, NormRows::plainRmsNorm));
    /// Threads of a block that norms whole rows.
    private static final int NORM_BLOCK = 512;

    private NormRows() {}

    private static void rmsNorm(CoreOp.RmsNorm n, GraphPlanner plan) {
        boolean whole = n.weight().cols() == n.x().width();
        if (whole
                && plan.readers
                        .only(n.out())
                        .filter(op -> NvidiaOps.row(op).reading().norms(op, n.out(), plan))
                        .isPresent()) {
            plan.fold(n);
        } else {
            defined(n, plan);
        }
    }

    private static void groupedRmsNorm(PartOp.GroupedRmsNorm n, GraphPlanner plan) {
        Slot x = plan.pool.get(n.x());
        Slot out = plan.pool.define(n.out(), x.selected);
        Weight weight = n.weight();
        rmsNorm(n, x, new Factors(plan.weights.floats(weight), weight.cols(), weight.rows()), n.eps(), out, plan);
    }

    private static void groupedLayerNorm(PartOp.GroupedLayerNorm n, GraphPlanner plan) {
        Slot x = plan.pool.get(n.x());
        Slot out = plan.pool.define(n.out(), x.selected);
        layerNorm(n, n.weight(), Argument.Address.NULL, n.eps(), x, out, plan);
    }

    private static void plainRmsNorm(PartOp.PlainRmsNorm n, GraphPlanner plan) {
        Slot x = plan.pool.get(n.x());
        Slot out = plan.pool.define(n.out(), x.selected);
        rmsNorm(n, x, ones(n, plan), n.eps(), out, plan);
    }

    /// Norms what is in the memory of the result.
    static void inPlace(PartOp.PlainRmsNorm n, GraphPlanner plan) {
        Slot x = plan.pool.get(n.out());
        rmsNorm(n, x, ones(n, plan), n.eps(), x, plan);
    }

    /// A norm with memory of its own for its result.
    ///
    /// @param n a [CoreOp.RmsNorm] or [CoreOp.LayerNorm]
    static void defined(CoreOp.Unary n, GraphPlanner plan) {
        norm(n, plan.pool.define(n.out(), plan.pool.get(n.x()).selected), plan);
    }

    /// A norm.
    ///
    /// @param n a [CoreOp.RmsNorm] or [CoreOp.LayerNorm]
    /// @param out where its result goes
    static void norm(CoreOp.Unary n, Slot out, GraphPlanner plan) {
        Slot x = plan.pool.get(n.x());
        if (n instanceof CoreOp.RmsNorm rms) {
            Weight weight = rms.weight();
            rmsNorm(n, x, new Factors(plan.weights.floats(weight), weight.cols(), 1), rms.eps(), out, plan);
            return;
        }
        CoreOp.LayerNorm layer = (CoreOp.LayerNorm) n;
        Argument.Address bias =
                layer.bias().map(b -> plan.weights.floats(b).at(0)).orElse(Argument.Address.NULL);
        layerNorm(layer, layer.weight(), bias, layer.eps(), x, out, plan);
    }

    /// {@return threads of a block that has a group}
    static int block(int group) {
        return group <= 128 ? 32 : 256;
    }

    /// What normed elements are multiplied with: each of the rows of `group` factors belongs to a group of a row, in
    /// turn.
    ///
    /// @param buffer where they are; may be longer than they are
    /// @param group elements that are normed together
    /// @param rows rows of factors
    private record Factors(BufferSpec buffer, int group, int rows) {}

    private static Factors ones(PartOp.PlainRmsNorm n, GraphPlanner plan) {
        return new Factors(plan.weights.ones(n.length()), n.length(), 1);
    }

    private static void rmsNorm(Op op, Slot x, Factors factors, float eps, Slot out, GraphPlanner plan) {
        BufferSpec weight = factors.buffer();
        int group = factors.group();
        plan.add(op, weight.purpose(), "rms_norm", x.selected, weight.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "rms_norm",
                    new Blocks(to.rows(x) * (x.width / group), 1, 1, block(group), 0),
                    to.at(x),
                    weight.at(0),
                    eps,
                    to.out(out),
                    group,
                    factors.rows());
        });
    }

    /// Each row of the weight belongs to a group of a row, in turn.
    private static void layerNorm(
            Op n, Weight of, Argument.Address bias, float eps, Slot x, Slot out, GraphPlanner plan) {
        BufferSpec weight = plan.weights.floats(of);
        int group = of.cols();
        plan.add(n, of.name(), "layer_norm", x.selected, weight.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "layer_norm",
                    new Blocks(to.rows(x) * (x.width / group), 1, 1, block(group), 0),
                    to.at(x),
                    weight.at(0),
                    bias,
                    eps,
                    to.out(out),
                    group,
                    of.rows());
        });
    }

    /// A norm of whole rows and the residual it is added to.
    static void normAdd(CoreOp.Add a, Value residualValue, Value normedValue, GraphPlanner plan) {
        CoreOp.RmsNorm n = plan.folded.get(normedValue.id());
        BufferSpec weight = plan.weights.floats(n.weight());
        Slot x = plan.pool.get(normedValue);
        Slot residual = plan.pool.get(residualValue);
        Slot out = plan.pool.define(a.out(), x.selected);
        plan.add(a, n.weight().name(), "rms_norm_add", x.selected, weight.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "rms_norm_add",
                    new Blocks(to.rows(x), 1, 1, NORM_BLOCK, 0),
                    to.at(x),
                    weight.at(0),
                    n.eps(),
                    to.at(residual),
                    to.out(out),
                    x.width);
        });
    }

    /// Norms of whole rows of two values, in place.
    static void two(CoreOp.RmsNorm a, Slot x, CoreOp.RmsNorm b, Slot y, GraphPlanner plan) {
        BufferSpec ofX = plan.weights.floats(a.weight());
        BufferSpec ofY = plan.weights.floats(b.weight());
        String name = a.weight().name() + ", " + b.weight().name();
        plan.add(a, name, "rms_norm_two", x.selected, ofX.bytes() + ofY.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "rms_norm_two",
                    new Blocks(to.rows(x), 2, 1, NORM_BLOCK, 0),
                    to.at(x),
                    ofX.at(0),
                    x.width,
                    to.at(y),
                    ofY.at(0),
                    y.width,
                    a.eps());
        });
    }
}
