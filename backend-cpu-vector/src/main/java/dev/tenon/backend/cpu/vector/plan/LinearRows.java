package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuLinear;
import dev.tenon.backend.cpu.vector.op.CpuLinearThen;
import dev.tenon.backend.cpu.vector.op.CpuNormGateUp;
import dev.tenon.backend.cpu.vector.op.Packing;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Projections, and what kernels do together with them.
final class LinearRows {
    static final List<OpRow<?>> ROWS = List.of(
            new OpRow<>(
                    CoreOp.Linear.class,
                    (l, judge) -> judge.matrix(l.weight()),
                    (l, to) -> linear(l, l, null, l.out(), to)),
            OpRow.fast(LowRankAdd.class, (l, to) -> to.adapters.lower(l)),
            OpRow.fused(
                    FusedOp.LinearAdd.class,
                    true,
                    (f, to) -> linear(f, f.linear(), f.residual(), f.add().out(), to)),
            OpRow.fused(FusedOp.LinearThen.class, true, LinearRows::linearThen),
            OpRow.fused(FusedOp.GateUp.class, true, (f, to) -> gateUp(f, f, to)),
            OpRow.fused(FusedOp.NormGateUp.class, true, (f, to) -> gateUp(general(f), f, to)));

    private LinearRows() {}

    /// A projection with what is added to it, or null.
    private static void linear(Op op, CoreOp.Linear l, Value residual, Value result, Lowering to) {
        Activations x = to.pool.get(l.x());
        Activations sum = residual == null ? null : to.pool.get(residual);
        BoundLinear bound = to.bind(l, x.selected);
        Activations out = to.pool.define(result, x.selected);
        to.add(op, new CpuLinear(x, bound, sum, out, Packing.before(bound), to.elements), bound);
    }

    /// A projection and what works on single elements of its result; from the first norm on, on whole rows.
    private static void linearThen(FusedOp.LinearThen f, Lowering to) {
        Activations x = to.pool.get(f.linear().x());
        BoundLinear linear = to.bind(f.linear(), x.selected);
        List<CpuLinearThen.Part> onColumns = new ArrayList<>();
        List<CpuLinearThen.Part> onRows = new ArrayList<>();
        Value before = f.linear().out();
        for (CoreOp op : f.then()) {
            OpRow<Op> row = to.row(op);
            (row.norm() != null || !onRows.isEmpty() ? onRows : onColumns).add(part(row, op, before, to));
            before = op.out();
        }
        Activations out = to.pool.define(f.outputs().getFirst(), x.selected);
        to.add(f, new CpuLinearThen(x, linear, onColumns, onRows, out, Packing.before(linear)), linear);
    }

    private static CpuLinearThen.Part part(OpRow<Op> row, CoreOp op, Value before, Lowering to) {
        if (row.norm() != null) {
            return CpuLinearThen.Part.of(row.norm().apply(op, to));
        }
        if (row.elements() == null) {
            throw new IllegalStateException("op " + op.kind() + " follows no projection");
        }
        List<Value> in = op.inputs();
        Value other = in.getFirst().equals(before) ? in.getLast() : in.getFirst();
        return CpuLinearThen.Part.of(row.elements().apply(op, to), in.size() == 1 ? null : to.pool.get(other));
    }

    private static FusedOp.GateUp general(FusedOp.NormGateUp f) {
        return new FusedOp.GateUp(
                Optional.of(f.norm()), Optional.of(f.gate()), f.up(), f.activate(), Optional.of(f.multiply()));
    }

    /// The first half of a feed-forward layer.
    ///
    /// @param f what it is
    /// @param op the op that says so, for reports
    private static void gateUp(FusedOp.GateUp f, Op op, Lowering to) {
        Activations x = to.pool.get(f.up().x());
        RowNorm norm = null;
        Activations normed = x;
        if (f.norm().isPresent()) {
            x = to.pool.get(f.norm().get().x());
            norm = to.norm(f.norm().get());
            normed = to.normed(x);
        }
        GateMath math = to.gateMath(f.activate(), f.gate().isPresent());
        BoundLinear gate = to.bind(f.gate().orElse(f.up()), x.selected);
        BoundLinear up = f.gate().isPresent() ? to.bind(f.up(), x.selected) : null;
        Activations upOut = up == null ? null : to.pool.temporary(up.rows(), x.selected);
        Activations out = to.pool.define(f.outputs().getFirst(), x.selected);
        BoundLinear[] linears = up == null ? new BoundLinear[] {gate} : new BoundLinear[] {gate, up};
        to.add(op, new CpuNormGateUp(x, norm, normed, gate, up, upOut, math, out, Packing.before(linears)), linears);
        if (norm != null) {
            to.pool.release(normed);
        }
        if (up != null) {
            to.pool.release(upOut);
        }
    }
}
