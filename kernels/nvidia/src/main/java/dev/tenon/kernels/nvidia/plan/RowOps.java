package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.Emission;
import dev.tenon.kernels.nvidia.launch.KernelCodes;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepLayout;
import java.util.function.ToLongFunction;

/// Plans the ops that have a kernel of their own, which works row by row or element by element.
final class RowOps {
    private final ValuePool<Slot> pool;
    private final WeightList weights;
    private final Value output;

    /// @param pool memory of values
    /// @param weights memory of weights
    /// @param output the graph's
    RowOps(ValuePool<Slot> pool, WeightList weights, Value output) {
        this.pool = pool;
        this.weights = weights;
        this.output = output;
    }

    /// {@return an op with its memory}
    ///
    /// @param op an op that passed the check
    PlannedOp plan(Op op) {
        return switch (op) {
            case CoreOp.Embedding e -> lookUp(e, e.table(), e.out(), StepLayout::tokens);
            case CoreOp.PositionEmbedding e -> lookUp(e, e.table(), e.out(), StepLayout::positions);
            case CoreOp.Repeat r -> repeat(r);
            case CoreOp.LayerNorm n -> layerNorm(n);
            case CoreOp.Add a -> binary(a, "add", a.a(), a.b(), a.out());
            case CoreOp.Multiply m -> binary(m, "multiply", m.a(), m.b(), m.out());
            case CoreOp.Activate a -> unary(a, "activate", a.x(), KernelCodes.of(a.activation()), a.out());
            case CoreOp.SwigluOai s -> swigluOai(s);
            case CoreOp.Scale s -> unary(s, "scale", s.x(), s.factor(), s.out());
            case CoreOp.SoftCap s -> unary(s, "soft_cap", s.x(), s.cap(), s.out());
            case CoreOp.SelectRows s -> selectRows(s);
            case CoreOp.Pool p -> pool(p);
            default -> throw new IllegalStateException("op " + op.kind() + " passed the check but has no kernel");
        };
    }

    private static PlannedOp planned(
            Op op, String name, String kernel, boolean selected, long bytes, PlannedOp.Emitter emitter) {
        return new PlannedOp(op.kind(), name, kernel, Support.Level.FAST, selected, bytes, emitter);
    }

    /// Rows of a table, by a number of each token.
    private PlannedOp lookUp(Op op, Weight of, Value outValue, ToLongFunction<StepLayout> numbers) {
        DeviceWeight table = weights.matrix(of);
        Slot out = pool.define(outValue, false);
        String entry = "embedding_" + table.format().id();
        KernelModule module = new KernelModule("embedding.cu", table.format().macros());
        long bytes = table.format().bytes(table.cols());
        return new PlannedOp(op.kind(), table.tensor(), entry, table.level(), false, bytes, to -> {
            to.launch(
                    module,
                    entry,
                    to.rows(out),
                    1,
                    1,
                    256,
                    0,
                    table.at(),
                    (long) table.rows(),
                    to.stepAt(numbers.applyAsLong(to.layout)),
                    to.out(out),
                    table.cols());
        });
    }

    private PlannedOp repeat(CoreOp.Repeat r) {
        BufferSpec row = weights.floats(r.row());
        Slot out = pool.define(r.out(), false);
        return planned(r, r.row().name(), "repeat", false, row.bytes(), to -> {
            to.elementwise("repeat", (long) to.rows(out) * out.width, row.at(0), out.width, to.out(out));
        });
    }

    private PlannedOp layerNorm(CoreOp.LayerNorm n) {
        Slot x = pool.get(n.x());
        BufferSpec weight = weights.floats(n.weight());
        Argument.Address bias = n.bias().map(b -> weights.floats(b).at(0)).orElse(Argument.Address.NULL);
        Slot out = pool.define(n.out(), x.selected);
        int group = n.weight().cols();
        return planned(n, n.weight().name(), "layer_norm", x.selected, weight.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "layer_norm",
                    to.rows(x) * (x.width / group),
                    1,
                    1,
                    group <= 128 ? 32 : 256,
                    0,
                    to.at(x),
                    weight.at(0),
                    bias,
                    n.eps(),
                    to.out(out),
                    group);
        });
    }

    private PlannedOp binary(Op op, String entry, Value a, Value b, Value outValue) {
        Slot left = pool.get(a);
        Slot right = pool.get(b);
        Slot out = pool.define(outValue, left.selected);
        return planned(op, outValue.name(), entry, left.selected, 0, to -> {
            to.elementwise(entry, (long) to.rows(out) * out.width, to.at(left), to.at(right), to.out(out));
        });
    }

    private PlannedOp unary(Op op, String entry, Value x, Object parameter, Value outValue) {
        Slot in = pool.get(x);
        Slot out = pool.define(outValue, in.selected);
        return planned(op, outValue.name(), entry, in.selected, 0, to -> {
            to.elementwise(entry, (long) to.rows(out) * out.width, to.at(in), parameter, to.out(out));
        });
    }

    private PlannedOp swigluOai(CoreOp.SwigluOai s) {
        Slot gate = pool.get(s.gate());
        Slot up = pool.get(s.up());
        Slot out = pool.define(s.out(), gate.selected);
        return planned(s, s.out().name(), "swiglu_oai", gate.selected, 0, to -> {
            to.elementwise(
                    "swiglu_oai",
                    (long) to.rows(out) * out.width,
                    to.at(gate),
                    to.at(up),
                    s.alpha(),
                    s.limit(),
                    to.out(out));
        });
    }

    private PlannedOp pool(CoreOp.Pool p) {
        Slot x = pool.get(p.x());
        Slot out = pool.define(p.out(), true);
        return planned(p, p.out().name(), "pool", true, 0, to -> {
            to.launch(
                    Emission.SMALL,
                    "pool",
                    to.rows(out),
                    (x.width + 255) / 256,
                    1,
                    256,
                    0,
                    to.at(x),
                    to.stepAt(to.layout.logitRows()),
                    to.stepAt(to.layout.sequences()),
                    to.out(out),
                    x.width,
                    to.rows(x),
                    p.pooling() == Pooling.CLS ? 1 : 0);
        });
    }

    private PlannedOp selectRows(CoreOp.SelectRows s) {
        Slot x = pool.get(s.x());
        Slot out = pool.define(s.out(), true);
        // Logits are read from their own memory.
        boolean copy = s.out().equals(output);
        return planned(s, s.out().name(), "select_rows", true, 0, to -> {
            if (to.shape.rows() == 1 && !copy) {
                to.alias(out, x);
            } else {
                to.launch(
                        Emission.SMALL,
                        "select_rows",
                        to.rows(out),
                        1,
                        1,
                        256,
                        0,
                        to.at(x),
                        to.stepAt(to.layout.logitRows()),
                        to.out(out),
                        x.width);
            }
        });
    }
}
