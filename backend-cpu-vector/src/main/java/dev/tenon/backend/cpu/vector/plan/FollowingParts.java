package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Value;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuElementwise;
import dev.tenon.backend.cpu.vector.op.CpuLinearThen;
import java.util.ArrayList;
import java.util.List;

/// What follows a projection, as parts of its kernel.
///
/// @param onColumns what works on single elements
/// @param onRows what needs whole rows, from the first norm on
record FollowingParts(List<CpuLinearThen.Part> onColumns, List<CpuLinearThen.Part> onRows) {
    /// {@return the parts of an op}
    ///
    /// @param f the op
    /// @param lowering makes norms
    /// @param pool arrays of values
    static FollowingParts of(FusedOp.LinearThen f, Lowering lowering, ValuePool<Activations> pool) {
        FollowingParts parts = new FollowingParts(new ArrayList<>(), new ArrayList<>());
        Value before = f.linear().out();
        for (CoreOp op : f.then()) {
            boolean norm = op instanceof CoreOp.RmsNorm || op instanceof CoreOp.LayerNorm;
            boolean rows = norm || !parts.onRows.isEmpty();
            (rows ? parts.onRows : parts.onColumns).add(part(op, before, lowering, pool));
            before = op.out();
        }
        return parts;
    }

    private static CpuLinearThen.Part part(CoreOp op, Value before, Lowering lowering, ValuePool<Activations> pool) {
        return switch (op) {
            case CoreOp.RmsNorm n -> CpuLinearThen.Part.of(lowering.norm(n));
            case CoreOp.LayerNorm n -> CpuLinearThen.Part.of(lowering.norm(n));
            case CoreOp.Add a -> CpuLinearThen.Part.of(CpuElementwise.add(), other(a, before, pool));
            case CoreOp.Multiply m -> CpuLinearThen.Part.of(CpuElementwise.multiply(), other(m, before, pool));
            case CoreOp.Scale s -> CpuLinearThen.Part.of(CpuElementwise.scale(s.factor()), null);
            case CoreOp.SoftCap s -> CpuLinearThen.Part.of(CpuElementwise.softCap(s.cap()), null);
            case CoreOp.Activate a ->
                CpuLinearThen.Part.of(CpuElementwise.activate(a.activation(), lowering.ownMath()), null);
            default -> throw new IllegalStateException("op " + op.kind() + " follows no projection");
        };
    }

    private static Activations other(CoreOp op, Value before, ValuePool<Activations> pool) {
        return pool.get(op.inputs().get(op.inputs().getFirst().equals(before) ? 1 : 0));
    }
}
