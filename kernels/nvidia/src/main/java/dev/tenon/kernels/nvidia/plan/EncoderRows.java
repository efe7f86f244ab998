package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.CentredConvolution;
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
import java.util.Optional;

/// Ops that few text models have, and encoders of pictures and sounds need.
final class EncoderRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(
                    PartOp.Transpose.class, (t, plan) -> elementwise(t, t.x(), t.out(), plan, t.groups(), t.length())),
            OpRow.fast(PartOp.Clamp.class, EncoderRows::clamp),
            OpRow.fast(
                    PartOp.Xielu.class,
                    (x, plan) -> elementwise(x, x.x(), x.out(), plan, x.alphaP(), x.alphaN(), x.beta(), x.eps())),
            OpRow.fast(PartOp.GroupMean.class, EncoderRows::groupMean),
            OpRow.fast(PartOp.TransposedLinear.class, EncoderRows::transposedLinear),
            OpRow.fast(CentredConvolution.class, EncoderRows::centredConvolution));

    static final int BLOCK = 256;
    /// Tokens of a block that multiplies.
    static final int TOKENS = 8;

    private EncoderRows() {}

    /// An op of the kernel of its kind.
    private static void elementwise(Op op, Value x, Value outValue, GraphPlanner plan, Object... parameters) {
        Slot in = plan.pool.get(x);
        Slot out = plan.pool.define(outValue, in.selected);
        plan.add(op, outValue.name(), op.kind(), in.selected, 0, to -> {
            Object[] arguments = new Object[parameters.length + 2];
            System.arraycopy(parameters, 0, arguments, 1, parameters.length);
            arguments[0] = to.at(in);
            arguments[parameters.length + 1] = to.out(out);
            to.elementwise(Emission.ENCODERS, op.kind(), (long) to.rows(out) * out.width, arguments);
        });
    }

    private static void clamp(PartOp.Clamp c, GraphPlanner plan) {
        float least = limit(c.least(), Float.NEGATIVE_INFINITY, plan);
        float most = limit(c.most(), Float.POSITIVE_INFINITY, plan);
        elementwise(c, c.x(), c.out(), plan, least, most);
    }

    private static float limit(Optional<Weight> number, float none, GraphPlanner plan) {
        return number.map(weight -> plan.weights.values(weight)[0]).orElse(none);
    }

    private static void groupMean(PartOp.GroupMean m, GraphPlanner plan) {
        Slot x = plan.pool.get(m.x());
        Slot out = plan.pool.define(m.out(), x.selected);
        plan.add(m, m.out().name(), m.kind(), x.selected, 0, to -> {
            to.launch(
                    Emission.ENCODERS,
                    m.kind(),
                    new Blocks(to.rows(x) * m.groups(), 1, 1, NormRows.block(m.length()), 0),
                    to.at(x),
                    to.out(out),
                    m.length());
        });
    }

    private static void transposedLinear(PartOp.TransposedLinear l, GraphPlanner plan) {
        BufferSpec weight = plan.weights.floats(l.weight());
        Slot x = plan.pool.get(l.x());
        Slot out = plan.pool.define(l.out(), x.selected);
        plan.add(l, l.weight().name(), l.kind(), x.selected, weight.bytes(), to -> {
            int rows = to.rows(x);
            to.launch(
                    Emission.ENCODERS,
                    l.kind(),
                    new Blocks(Math.ceilDiv(out.width, BLOCK), Math.ceilDiv(rows, TOKENS), 1, BLOCK, 0),
                    to.at(x),
                    weight.at(0),
                    to.out(out),
                    x.width,
                    out.width,
                    rows);
        });
    }

    private static void centredConvolution(CentredConvolution c, GraphPlanner plan) {
        BufferSpec weight = plan.weights.floats(c.weight());
        Argument.Address bias = c.bias().map(b -> plan.weights.floats(b).at(0)).orElse(Argument.Address.NULL);
        Slot x = plan.pool.get(c.x());
        Slot out = plan.pool.define(c.out(), false);
        plan.add(c, c.weight().name(), c.kind(), false, weight.bytes(), to -> {
            to.elementwise(
                    Emission.ENCODERS,
                    c.kind(),
                    (long) to.rows(out) * out.width,
                    to.at(x),
                    weight.at(0),
                    bias,
                    to.stepAt(to.layout.sequences()),
                    to.out(out),
                    out.width,
                    c.taps(),
                    c.before());
        });
    }
}
