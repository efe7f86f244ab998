package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.math.LayerNormMath;
import dev.tenon.backend.cpu.vector.math.RmsNormMath;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuElementwise;
import dev.tenon.backend.cpu.vector.op.CpuNorm;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

/// Ops on single elements of rows, and norms of rows.
final class ElementRows {
    static final List<OpRow<?>> ROWS = List.of(
            norm(CoreOp.RmsNorm.class, ElementRows::rmsName, ElementRows::rmsNorm),
            norm(CoreOp.LayerNorm.class, _ -> Lowering.JAVA, ElementRows::layerNorm),
            elements(CoreOp.Add.class, (_, _) -> CpuElementwise.add()),
            elements(CoreOp.Multiply.class, (_, _) -> CpuElementwise.multiply()),
            elements(
                    CoreOp.Activate.class,
                    to -> to.kernels.elementsName(),
                    (a, to) -> CpuElementwise.activate(a.activation(), to.ownMath())),
            elements(CoreOp.Scale.class, (s, _) -> CpuElementwise.scale(s.factor())),
            elements(CoreOp.SwigluOai.class, (s, _) -> CpuElementwise.swigluOai(s.alpha(), s.limit(), s.offset())),
            elements(CoreOp.SoftCap.class, (s, _) -> CpuElementwise.softCap(s.cap())),
            elements(PartOp.Xielu.class, (x, _) -> CpuElementwise.xielu(x)),
            OpRow.fast(PositionScale.class, ElementRows::positionScale));

    private ElementRows() {}

    /// {@return a row of an op on single elements of one value or two}
    ///
    /// @param type the op's class
    /// @param function makes the function of its elements
    static <T extends Op> OpRow<T> elements(Class<T> type, BiFunction<T, Lowering, CpuElementwise.Function> function) {
        return elements(type, _ -> Lowering.JAVA, function);
    }

    private static <T extends Op> OpRow<T> elements(
            Class<T> type, Function<Lowering, String> name, BiFunction<T, Lowering, CpuElementwise.Function> function) {
        return new OpRow<>(
                type,
                OpRow::float32,
                (op, to) -> {
                    Activations a = to.pool.get(op.inputs().getFirst());
                    Activations b = to.pool.get(op.inputs().getLast());
                    Value result = op.outputs().getFirst();
                    Activations out = to.pool.define(result, a.selected);
                    CpuElementwise kernel = new CpuElementwise(function.apply(op, to), a, b, out);
                    to.add(op, result.name(), name.apply(to), kernel);
                },
                null,
                function,
                false);
    }

    private static <T extends CoreOp.Unary> OpRow<T> norm(
            Class<T> type, Function<Lowering, String> name, BiFunction<T, Lowering, RowNorm> norm) {
        return new OpRow<>(
                type,
                OpRow::float32,
                (op, to) -> {
                    Activations x = to.pool.get(op.x());
                    RowNorm math = norm.apply(op, to);
                    Activations out = to.pool.define(op.out(), x.selected);
                    to.add(op, op.weights().getFirst().name(), name.apply(to), new CpuNorm(x, math, out));
                },
                norm,
                null,
                false);
    }

    private static String rmsName(Lowering to) {
        return to.elements.kernel() != null ? to.elements.kernel().name() : to.kernels.elementsName();
    }

    private static RowNorm rmsNorm(CoreOp.RmsNorm n, Lowering to) {
        return new RmsNormMath(new HostFloats(vector(n.weight(), to)), n.eps(), to.elements);
    }

    private static RowNorm layerNorm(CoreOp.LayerNorm n, Lowering to) {
        float[] weight = vector(n.weight(), to);
        return new LayerNormMath(weight, n.bias().map(to.binder::vector).orElse(Lowering.NONE), n.eps());
    }

    /// The weight of a norm, which is counted.
    private static float[] vector(Weight weight, Lowering to) {
        to.reads(to.binder.format(weight).bytesFor(weight.cols()));
        return to.binder.vector(weight);
    }

    private static void positionScale(PositionScale s, Lowering to) {
        Activations x = to.pool.get(s.x());
        Activations out = to.pool.define(s.out(), x.selected);
        to.add(s, s.out().name(), Lowering.JAVA, CpuRows.positionScale(s, x, out));
    }
}
