package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.PositionScale;
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
import java.util.Map;
import java.util.function.ToLongFunction;

/// Plans the ops that have a kernel of their own, which works row by row or element by element.
final class RowOps {
    /// Threads of a block that norms whole rows.
    private static final int NORM_BLOCK = 512;

    private final ValuePool<Slot> pool;
    private final WeightList weights;
    private final Map<Integer, CoreOp.RmsNorm> folded;
    private final Value output;

    /// @param pool memory of values
    /// @param weights memory of weights
    /// @param folded norms that an addition does, by the id of their result
    /// @param output the graph's
    RowOps(ValuePool<Slot> pool, WeightList weights, Map<Integer, CoreOp.RmsNorm> folded, Value output) {
        this.pool = pool;
        this.weights = weights;
        this.folded = folded;
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
            case CoreOp.RmsNorm n -> norm(n, defined(n));
            case CoreOp.LayerNorm n -> norm(n, defined(n));
            case PartOp.GroupedRmsNorm n -> {
                Slot x = pool.get(n.x());
                Slot out = pool.define(n.out(), x.selected);
                Weight weight = n.weight();
                yield rmsNorm(n, x, weights.floats(weight), weight.cols(), weight.rows(), n.eps(), out);
            }
            case PartOp.GroupedLayerNorm n -> {
                Slot x = pool.get(n.x());
                Slot out = pool.define(n.out(), x.selected);
                yield layerNorm(n, n.weight(), Argument.Address.NULL, n.eps(), x, out);
            }
            case PartOp.PlainRmsNorm n -> {
                Slot x = pool.get(n.x());
                Slot out = pool.define(n.out(), x.selected);
                yield rmsNorm(n, x, weights.ones(n.length()), n.length(), 1, n.eps(), out);
            }
            case CoreOp.Add a when folded.containsKey(a.b().id()) -> normAdd(a, a.a(), a.b());
            case CoreOp.Add a when folded.containsKey(a.a().id()) -> normAdd(a, a.b(), a.a());
            case CoreOp.Add a -> binary(a, "add", a.a(), a.b(), a.out());
            case CoreOp.Multiply m -> binary(m, "multiply", m.a(), m.b(), m.out());
            case CoreOp.Activate a -> unary(a, "activate", a.x(), KernelCodes.of(a.activation()), a.out());
            case CoreOp.SwigluOai s -> swigluOai(s);
            case CoreOp.Scale s -> unary(s, "scale", s.x(), s.factor(), s.out());
            case CoreOp.SoftCap s -> unary(s, "soft_cap", s.x(), s.cap(), s.out());
            case PositionScale s -> positionScale(s);
            case PartOp.Slice s -> slice(s);
            case PartOp.Join j -> join(j);
            case CoreOp.SelectRows s -> selectRows(s);
            case CoreOp.Pool p -> pool(p);
            default -> throw new IllegalStateException("op " + op.kind() + " passed the check but has no kernel");
        };
    }

    /// {@return a norm of what is in the memory of its result}
    PlannedOp inPlace(PartOp.PlainRmsNorm n) {
        Slot x = pool.get(n.out());
        return rmsNorm(n, x, weights.ones(n.length()), n.length(), 1, n.eps(), x);
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

    private Slot defined(CoreOp.Unary n) {
        return pool.define(n.out(), pool.get(n.x()).selected);
    }

    /// {@return a norm}
    ///
    /// @param n a [CoreOp.RmsNorm] or [CoreOp.LayerNorm]
    /// @param out where its result goes
    PlannedOp norm(CoreOp.Unary n, Slot out) {
        Slot x = pool.get(n.x());
        if (n instanceof CoreOp.RmsNorm rms) {
            Weight weight = rms.weight();
            return rmsNorm(n, x, weights.floats(weight), weight.cols(), 1, rms.eps(), out);
        }
        CoreOp.LayerNorm layer = (CoreOp.LayerNorm) n;
        Argument.Address bias = layer.bias().map(b -> weights.floats(b).at(0)).orElse(Argument.Address.NULL);
        return layerNorm(layer, layer.weight(), bias, layer.eps(), x, out);
    }

    private static int block(int group) {
        return group <= 128 ? 32 : 256;
    }

    /// Each of the weight's `rows` of `group` elements belongs to a group of a row, in turn.
    private static PlannedOp rmsNorm(Op op, Slot x, BufferSpec weight, int group, int rows, float eps, Slot out) {
        return planned(op, weight.purpose(), "rms_norm", x.selected, weight.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "rms_norm",
                    to.rows(x) * (x.width / group),
                    1,
                    1,
                    block(group),
                    0,
                    to.at(x),
                    weight.at(0),
                    eps,
                    to.out(out),
                    group,
                    rows);
        });
    }

    /// Each row of the weight belongs to a group of a row, in turn.
    private PlannedOp layerNorm(Op n, Weight of, Argument.Address bias, float eps, Slot x, Slot out) {
        BufferSpec weight = weights.floats(of);
        int group = of.cols();
        return planned(n, of.name(), "layer_norm", x.selected, weight.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "layer_norm",
                    to.rows(x) * (x.width / group),
                    1,
                    1,
                    block(group),
                    0,
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
    private PlannedOp normAdd(CoreOp.Add a, Value residualValue, Value normedValue) {
        CoreOp.RmsNorm n = folded.get(normedValue.id());
        BufferSpec weight = weights.floats(n.weight());
        Slot x = pool.get(normedValue);
        Slot residual = pool.get(residualValue);
        Slot out = pool.define(a.out(), x.selected);
        return planned(a, n.weight().name(), "rms_norm_add", x.selected, weight.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "rms_norm_add",
                    to.rows(x),
                    1,
                    1,
                    NORM_BLOCK,
                    0,
                    to.at(x),
                    weight.at(0),
                    n.eps(),
                    to.at(residual),
                    to.out(out),
                    x.width);
        });
    }

    /// {@return norms of whole rows of two values, in place}
    PlannedOp twoNorms(CoreOp.RmsNorm a, Slot x, CoreOp.RmsNorm b, Slot y) {
        BufferSpec ofX = weights.floats(a.weight());
        BufferSpec ofY = weights.floats(b.weight());
        String name = a.weight().name() + ", " + b.weight().name();
        return planned(a, name, "rms_norm_two", x.selected, ofX.bytes() + ofY.bytes(), to -> {
            to.launch(
                    Emission.SMALL,
                    "rms_norm_two",
                    to.rows(x),
                    2,
                    1,
                    NORM_BLOCK,
                    0,
                    to.at(x),
                    ofX.at(0),
                    x.width,
                    to.at(y),
                    ofY.at(0),
                    y.width,
                    a.eps());
        });
    }

    private PlannedOp positionScale(PositionScale s) {
        Slot x = pool.get(s.x());
        if (x.selected) {
            throw new IllegalStateException("scale of selected rows; positions are known for all rows only");
        }
        Slot out = pool.define(s.out(), false);
        return planned(s, s.out().name(), "position_scale", false, 0, to -> {
            to.elementwise(
                    "position_scale",
                    (long) to.rows(out) * out.width,
                    to.at(x),
                    to.stepAt(to.layout.positions()),
                    s.gain(),
                    s.offset(),
                    s.period(),
                    to.out(out),
                    out.width);
        });
    }

    private PlannedOp join(PartOp.Join j) {
        Slot a = pool.get(j.a());
        Slot b = pool.get(j.b());
        Slot out = pool.define(j.out(), a.selected);
        return planned(j, j.out().name(), "join", a.selected, 0, to -> {
            to.elementwise(
                    "join",
                    (long) to.rows(out) * out.width,
                    to.at(a),
                    to.at(b),
                    a.width / j.groups(),
                    b.width / j.groups(),
                    to.out(out));
        });
    }

    private PlannedOp slice(PartOp.Slice s) {
        Slot x = pool.get(s.x());
        Slot out = pool.define(s.out(), x.selected);
        return planned(s, s.out().name(), "slice", x.selected, 0, to -> {
            to.elementwise(
                    "slice",
                    (long) to.rows(out) * out.width,
                    to.at(x),
                    x.width / s.groups(),
                    s.from(),
                    s.length(),
                    to.out(out));
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
