package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.StateOp;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.sequence.CpuDeltaRule;
import dev.tenon.backend.cpu.vector.sequence.CpuSelectiveScan;
import dev.tenon.backend.cpu.vector.sequence.CpuShortConvolution;
import java.util.List;

/// Makes the kernels of ops with a state.
///
/// @param ops all of the graph, in the order of their states
/// @param states their memory; null if there are none
/// @param kernels selects the arithmetic
record StateKernels(List<StateOp> ops, CpuStates states, KernelSet kernels) {
    private static final float[] NONE = new float[0];

    /// {@return what reports call the kernel of an op}
    String name(StateOp op) {
        return op instanceof StateOp.ShortConvolution ? "f32.java" : kernels.statesName();
    }

    /// {@return the kernel of an op, with its arrays}
    ///
    /// @param op the op
    /// @param pool arrays of values
    /// @param binder weights
    CpuKernel of(StateOp op, ValuePool<Activations> pool, WeightBinder binder) {
        int index = ops.indexOf(op);
        return switch (op) {
            case StateOp.ShortConvolution c -> {
                Activations x = pool.get(c.x());
                float[] taps = CpuShortConvolution.byTap(binder.vector(c.weight()), c.taps());
                float[] bias = c.bias().map(binder::vector).orElse(NONE);
                yield new CpuShortConvolution(c, index, x, taps, bias, states, pool.define(c.out(), false));
            }
            case StateOp.SelectiveScan s ->
                new CpuSelectiveScan(
                        s,
                        index,
                        pool.get(s.xbc()),
                        pool.get(s.step()),
                        binder.vector(s.a()),
                        binder.vector(s.d()),
                        binder.vector(s.stepBias()),
                        states,
                        kernels.states(),
                        pool.define(s.out(), false));
            case StateOp.GatedDeltaRule d ->
                new CpuDeltaRule(
                        d,
                        index,
                        pool.get(d.qkv()),
                        pool.get(d.decay()),
                        pool.get(d.beta()),
                        binder.vector(d.a()),
                        binder.vector(d.decayBias()),
                        states,
                        kernels.states(),
                        kernels.elementMath(),
                        pool.define(d.out(), false));
        };
    }
}
