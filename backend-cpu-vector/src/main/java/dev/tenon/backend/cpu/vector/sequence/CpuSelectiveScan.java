package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.StateOp;
import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateWork;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// The selective scan. Threads take parts of a head's state, for all tokens of a sequence.
///
/// @param op the op
/// @param index its index among the ops with a state
/// @param xbc `[T, heads * P + 2 * groups * S]`
/// @param step `[T, heads]`
/// @param a `[heads]`
/// @param d `[heads]`
/// @param bias `[heads]`
/// @param states of a head parts of `P`, each `[S, columns]`
/// @param math the arithmetic
/// @param out `[T, heads * P]`
public record CpuSelectiveScan(
        StateOp.SelectiveScan op,
        int index,
        Activations xbc,
        Activations step,
        float[] a,
        float[] d,
        float[] bias,
        CpuStates states,
        StateMath math,
        Activations out)
        implements CpuKernel {
    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int parts = Math.ceilDiv(op.headLength(), StateMath.COLUMNS);
        int items = c.runCount() * op.heads() * parts;
        for (int item = c.claim(1); item < items; item = c.claim(1)) {
            int run = item / (op.heads() * parts);
            scan(c, run, item / parts % op.heads(), item % parts * StateMath.COLUMNS, c.work(thread));
        }
    }

    private void scan(StepContext c, int run, int head, int column, StateWork w) {
        int first = c.runStart(run);
        int x = head * op.headLength() + column;
        int b = out.width + head / (op.heads() / op.groups()) * op.stateLength();
        w.state = states.state(c.input().stateSlot(c.input().sequence(first)), index);
        w.at = x * op.stateLength();
        w.rows = op.stateLength();
        w.columns = Math.min(StateMath.COLUMNS, op.headLength() - column);
        w.in = xbc.data;
        w.out = out.data;
        for (int t = first; t < c.runStart(run + 1); t++) {
            double dt = StateMath.softplus(step.data[t * step.width + head] + bias[head]);
            w.decay = (float) Math.exp(dt * a[head]);
            w.strength = (float) dt;
            w.column = t * xbc.width + x;
            w.key = t * xbc.width + b;
            w.query = w.key + op.groups() * op.stateLength();
            w.to = t * out.width + x;
            for (int p = 0; p < w.columns; p++) {
                out.data[w.to + p] = d[head] * xbc.data[w.column + p];
            }
            math.scan(w);
        }
    }
}
