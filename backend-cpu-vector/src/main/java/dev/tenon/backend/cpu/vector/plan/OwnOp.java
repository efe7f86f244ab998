package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.CpuOwnOp;
import dev.tenon.backend.cpu.vector.op.EvaluatedRows;
import java.util.ArrayList;
import java.util.List;

/// An op that a model bundle defines: with a kernel that is offered for it, otherwise computed by
/// itself.
///
/// @param kernel computes it
/// @param report what the report tells of it
/// @param weightBytes weight bytes that a decoded token reads
/// @param scratchFloats floats that it needs on each thread
record OwnOp(CpuKernel kernel, PlanReport.Kernel report, long weightBytes, int scratchFloats) {
    /// {@return an op with its arrays}
    ///
    /// @param op the op
    /// @param pool arrays of values
    /// @param binder weights, and the kernel if one is offered
    /// @param memory memory of decoded weights
    static OwnOp of(ReferenceOp op, ValuePool<Activations> pool, WeightBinder binder, PlanMemory memory) {
        OpKernel offered = binder.own(op);
        long bytes = 0;
        for (Weight weight : op.weights()) {
            bytes += offered == null
                    ? weight.elements() * Float.BYTES
                    : binder.rowBytes(weight) * weight.rows() * weight.slices();
        }
        OpKernel.Rows code = offered != null ? bound(offered, op, binder) : evaluated(op, binder, memory);
        Activations[] in = new Activations[op.inputs().size()];
        for (int i = 0; i < in.length; i++) {
            in[i] = pool.get(op.inputs().get(i));
        }
        boolean selected = in.length > 0 && in[0].selected;
        Activations[] out = new Activations[op.outputs().size()];
        for (int o = 0; o < out.length; o++) {
            out[o] = pool.define(op.outputs().get(o), selected);
        }
        PlanReport.Kernel report = new PlanReport.Kernel(
                op.kind(),
                op.outputs().getFirst().name(),
                offered != null ? offered.name() : EvaluatedRows.NAME,
                offered != null ? Support.Level.FAST : Support.Level.GENERIC);
        return new OwnOp(new CpuOwnOp(op, code, in, out, selected), report, bytes, code.scratchFloats());
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
