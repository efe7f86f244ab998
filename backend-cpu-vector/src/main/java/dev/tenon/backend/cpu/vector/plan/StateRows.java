package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.plan.LoweredGraph.ThreadNeeds;
import dev.tenon.backend.cpu.vector.sequence.CpuDeltaRule;
import dev.tenon.backend.cpu.vector.sequence.CpuReplacementRule;
import dev.tenon.backend.cpu.vector.sequence.CpuRunMean;
import dev.tenon.backend.cpu.vector.sequence.CpuSelectiveScan;
import dev.tenon.backend.cpu.vector.sequence.CpuShortConvolution;
import dev.tenon.backend.cpu.vector.sequence.CpuTokenShift;
import java.util.List;

/// Ops with a state.
final class StateRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(StateOp.ShortConvolution.class, StateRows::convolution),
            OpRow.fast(StateOp.SelectiveScan.class, StateRows::scan),
            OpRow.fast(StateOp.GatedDeltaRule.class, StateRows::delta),
            OpRow.fast(RecurrentOp.TokenShift.class, StateRows::shift),
            OpRow.fast(RecurrentOp.ReplacementRule.class, StateRows::replacement),
            OpRow.plain(RecurrentOp.RunMean.class, StateRows::runMean));

    private StateRows() {}

    private static void convolution(StateOp.ShortConvolution c, Lowering to) {
        Activations x = to.pool.get(c.x());
        float[] taps = CpuShortConvolution.byTap(to.binder.vector(c.weight()), c.taps());
        float[] bias = c.bias().map(to.binder::vector).orElse(Lowering.NONE);
        Activations out = to.pool.define(c.out(), false);
        to.add(
                c,
                c.out().name(),
                Lowering.JAVA,
                new CpuShortConvolution(c, to.stateOf(c), x, taps, bias, to.states, out));
    }

    private static void scan(StateOp.SelectiveScan s, Lowering to) {
        CpuSelectiveScan kernel = new CpuSelectiveScan(
                s,
                to.stateOf(s),
                to.pool.get(s.xbc()),
                to.pool.get(s.step()),
                to.binder.vector(s.a()),
                to.binder.vector(s.d()),
                to.binder.vector(s.stepBias()),
                to.states,
                to.kernels.states(),
                to.pool.define(s.out(), false));
        to.add(s, s.out().name(), to.kernels.statesName(), kernel);
    }

    private static void delta(StateOp.GatedDeltaRule d, Lowering to) {
        CpuDeltaRule kernel = new CpuDeltaRule(
                d,
                to.stateOf(d),
                to.pool.get(d.qkv()),
                to.pool.get(d.decay()),
                to.pool.get(d.beta()),
                to.binder.vector(d.a()),
                to.binder.vector(d.decayBias()),
                to.states,
                to.kernels.states(),
                to.kernels.elementMath(),
                to.pool.define(d.out(), false));
        to.add(d, d.out().name(), to.kernels.statesName(), kernel);
    }

    private static void shift(RecurrentOp.TokenShift op, Lowering to) {
        Activations x = to.pool.get(op.x());
        float[] weight = to.binder.vector(op.weight());
        CpuTokenShift kernel =
                new CpuTokenShift(op, to.stateOf(op), x, weight, to.states, to.pool.define(op.out(), false));
        to.add(op, op.out().name(), Lowering.JAVA, kernel);
    }

    private static void replacement(RecurrentOp.ReplacementRule op, Lowering to) {
        to.needs(new ThreadNeeds(op.headLength(), 0, 0, 0));
        CpuReplacementRule kernel = new CpuReplacementRule(
                op,
                to.stateOf(op),
                to.pool.get(op.rkv()),
                to.pool.get(op.decay()),
                to.pool.get(op.remove()),
                to.pool.get(op.add()),
                to.states,
                to.pool.define(op.out(), false));
        to.add(op, op.out().name(), Lowering.JAVA, kernel);
    }

    private static void runMean(RecurrentOp.RunMean op, Lowering to) {
        CpuRunMean kernel = new CpuRunMean(
                op,
                to.stateOf(op),
                to.pool.get(op.x()),
                to.pool.get(op.scores()),
                to.binder.vector(op.bias()),
                to.states,
                to.pool.define(op.out(), false));
        to.add(op, op.out().name(), Lowering.JAVA, kernel);
    }
}
