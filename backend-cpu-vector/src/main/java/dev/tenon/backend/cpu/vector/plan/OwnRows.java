package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.CpuOwnOp;
import dev.tenon.backend.cpu.vector.op.EvaluatedRows;
import dev.tenon.backend.cpu.vector.plan.LoweredGraph.ThreadNeeds;
import java.util.ArrayList;
import java.util.List;

/// Ops that bundles define: with a kernel that is offered for it, otherwise computed by itself; and those that
/// stand for others.
final class OwnRows {
    static final List<OpRow<?>> ROWS = List.of(
            new OpRow<>(CustomOp.class, (op, judge) -> GraphSupport.of(op, false, judge::of), (op, _) -> {
                throw new IllegalStateException("op " + op.kind() + " was not expanded");
            }),
            new OpRow<>(ReferenceOp.class, OwnRows::support, OwnRows::lower));

    private OwnRows() {}

    private static Support support(ReferenceOp op, OpSupport judge) {
        OpKernel kernel = judge.kernels().own(op, judge.weights());
        return kernel != null
                ? new Support(Support.Level.FAST, "kernel " + kernel.name() + " for op " + op.kind())
                : new Support(
                        Support.Level.GENERIC,
                        "no kernel is offered for op " + op.kind() + " ("
                                + op.getClass().getName() + "); it computes itself, slowly: " + EvaluatedRows.NAME);
    }

    private static void lower(ReferenceOp op, Lowering to) {
        OpKernel offered = to.binder.own(op);
        for (Weight weight : op.weights()) {
            to.reads(
                    offered == null
                            ? weight.elements() * Float.BYTES
                            : to.binder.rowBytes(weight) * weight.rows() * weight.slices());
        }
        OpKernel.Rows code = offered != null ? bound(offered, op, to.binder) : evaluated(op, to.binder, to.memory);
        Activations[] in = op.inputs().stream().map(to.pool::get).toArray(Activations[]::new);
        boolean selected = in.length > 0 && in[0].selected;
        Activations[] out = op.outputs().stream()
                .map(value -> to.pool.define(value, selected))
                .toArray(Activations[]::new);
        to.needs(new ThreadNeeds(code.scratchFloats(), 0, 0, 0));
        to.add(
                new CpuOwnOp(op, code, in, out, selected),
                new PlanReport.Kernel(
                        op.kind(),
                        op.outputs().getFirst().name(),
                        offered != null ? offered.name() : EvaluatedRows.NAME,
                        offered != null ? Support.Level.FAST : Support.Level.GENERIC));
    }

    private static OpKernel.Rows bound(OpKernel kernel, ReferenceOp op, WeightBinder binder) {
        List<OpWeight> weights = new ArrayList<>();
        for (Weight weight : op.weights()) {
            weights.add(binder.inPlace(weight));
        }
        try {
            return kernel.bind(op, List.copyOf(weights));
        } catch (RuntimeException e) {
            throw new BackendException(
                    ErrorCode.BACKEND_FAILED,
                    "kernel " + kernel.name() + " (" + kernel.getClass().getName() + ") cannot be prepared for op "
                            + op.kind() + " -> " + op.outputs() + ": " + e,
                    0,
                    e);
        }
    }

    private static OpKernel.Rows evaluated(ReferenceOp op, WeightBinder binder, PlanMemory memory) {
        float[][] weights = new float[op.weights().size()][];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = binder.decoded(op.weights().get(i), memory);
        }
        return new EvaluatedRows(op, weights);
    }
}
