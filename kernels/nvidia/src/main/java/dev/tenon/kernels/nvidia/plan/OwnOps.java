package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.kernel.cuda.CudaOpKernel;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.OwnOpSource;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Plans ops that bundles define: for each row, a block of threads calls the bundle's function.
final class OwnOps {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fused(CustomOp.class, _ -> false, (_, _) -> false, OwnOps::refuse),
            new OpRow<>(
                    ReferenceOp.class,
                    OwnOps::support,
                    (op, plan) -> plan.ops.add(plan.ownOps.plan(op, plan.pool, plan.weights))));
    /// Stands for ops without a row.
    static final OpRow<Op> UNKNOWN = new OpRow<>(Op.class, (op, _) -> GraphSupport.unknown(op), OwnOps::refuse);

    private final List<CudaOpKernel> kernels;
    private final Map<String, String> texts = new HashMap<>();

    /// @param kernels what bundles offer, in the order of the rule
    OwnOps(List<CudaOpKernel> kernels) {
        this.kernels = kernels;
    }

    /// {@return the sources so far, by file}
    Map<String, String> texts() {
        return texts;
    }

    private static void refuse(Op op, GraphPlanner plan) {
        throw new IllegalStateException("op " + op.kind() + " passed the check but has no kernel");
    }

    private static Optional<CudaOpKernel> kernel(ReferenceOp op, List<CudaOpKernel> kernels) {
        return kernels.stream()
                .filter(kernel -> kernel.op().equals(op.kind()) && kernel.accepts(op))
                .findFirst();
    }

    private static Support support(ReferenceOp op, OpSupport judge) {
        Optional<CudaOpKernel> kernel = kernel(op, judge.ownOps());
        if (kernel.isEmpty()) {
            return new Support(
                    Support.Level.NONE,
                    "op " + op.kind() + " is a bundle's own: it needs a kernel, and none is offered here, or a CPU");
        }
        if (!judge.formats().compiles().getAsBoolean()) {
            return new Support(
                    Support.Level.NONE,
                    "op " + op.kind() + " is a bundle's own, and nothing here compiles its kernel "
                            + kernel.get().name() + ": it needs NVRTC (see cuda.nvrtc), or a CPU");
        }
        return new Support(Support.Level.FAST, "kernel " + kernel.get().name() + " for op " + op.kind());
    }

    /// {@return an op, which has a kernel, with its memory}
    PlannedOp plan(ReferenceOp op, ValuePool<Slot> pool, WeightList weights) {
        CudaOpKernel kernel = kernel(op, kernels).orElseThrow();
        OwnOpSource source = OwnOpSource.of(kernel, op);
        KernelModule module = source.module();
        texts.put(module.file(), source.text());
        List<Slot> in = op.inputs().stream().map(pool::get).toList();
        List<BufferSpec> elements = op.weights().stream().map(weights::floats).toList();
        boolean selected = !in.isEmpty() && in.getFirst().selected;
        List<Slot> out =
                op.outputs().stream().map(value -> pool.define(value, selected)).toList();
        long bytes = elements.stream().mapToLong(BufferSpec::bytes).sum();
        String name = op.outputs().getFirst().name();
        return new PlannedOp(op.kind(), name, kernel.name(), Support.Level.FAST, selected, bytes, to -> {
            List<Object> arguments = new ArrayList<>();
            in.forEach(slot -> arguments.add(to.at(slot)));
            elements.forEach(buffer -> arguments.add(buffer.at(0)));
            out.forEach(slot -> arguments.add(to.out(slot)));
            int rows = to.rows(out.getFirst());
            to.launch(module, source.entry(), new Blocks(rows, 1, 1, source.threads(), 0), arguments.toArray());
        });
    }
}
