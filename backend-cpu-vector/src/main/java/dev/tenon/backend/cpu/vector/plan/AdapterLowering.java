package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PackedActivations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.CpuLowRankAdd;
import dev.tenon.backend.cpu.vector.op.LowRankChange;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import java.util.Map;
import java.util.stream.Collectors;

/// Makes what adapters change of projections, and the kernels of those changes that stayed ops.
///
/// @param lowering takes the kernels
/// @param folded what adapters change of projections, by the value that they compute
/// @param binder decodes weights
/// @param kernels selects kernels
/// @param memory gives memory to weights
/// @param pool arrays of values
record AdapterLowering(
        Lowering lowering,
        Map<Value, LowRankAdd> folded,
        WeightBinder binder,
        KernelSet kernels,
        PlanMemory memory,
        ValuePool<Activations> pool) {
    void lower(LowRankAdd l) {
        Activations x = pool.get(l.x());
        Activations base = pool.get(l.base());
        LowRankChange[] changes = changes(l, x.selected);
        for (LowRankChange change : changes) {
            lowering.reads(change.bytes());
        }
        Activations out = pool.define(l.out(), x.selected);
        String names = l.weights().stream().map(Weight::name).collect(Collectors.joining(", "));
        Packing packing = new Packing(new PackedActivations[0], changes);
        lowering.add(l, names, kernels.lowRankName(), new CpuLowRankAdd(x, base, changes, out, packing));
        release(changes);
    }

    /// {@return what adapters change of a projection; [#release] takes its memory back after the op}
    ///
    /// @param linear the projection
    /// @param selected whether its rows are those that want logits
    LowRankChange[] changes(CoreOp.Linear linear, boolean selected) {
        LowRankAdd added = folded.get(linear.out());
        return added == null ? new LowRankChange[0] : changes(added, selected);
    }

    private LowRankChange[] changes(LowRankAdd l, boolean selected) {
        int lanes = kernels.lowRank().lanes();
        return l.parts().stream()
                .map(part -> {
                    int ranks = Math.ceilDiv(part.a().rows(), lanes) * lanes;
                    return binder.change(part, pool.temporary(ranks, selected), memory);
                })
                .toArray(LowRankChange[]::new);
    }

    /// Gives the memory of changes to later ops.
    void release(LowRankChange[] changes) {
        for (LowRankChange change : changes) {
            pool.release(change.down());
        }
    }
}
