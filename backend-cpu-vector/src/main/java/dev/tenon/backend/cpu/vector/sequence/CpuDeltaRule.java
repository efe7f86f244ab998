package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.StateOp;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateWork;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// The gated delta rule. Threads take parts of a value head's state, for all tokens of a sequence.
///
/// @param op the op
/// @param index its index among the ops with a state
/// @param qkv `[T, 2 * keyHeads * keyLength + valueHeads * valueLength]`
/// @param decay `[T, valueHeads * decays]`
/// @param beta `[T, valueHeads]`
/// @param a `[valueHeads]`
/// @param bias `[valueHeads * decays]`
/// @param states of a value head parts of `valueLength`, each `[keyLength, columns]`
/// @param math the arithmetic of states
/// @param elements adds squares up
/// @param out `[T, valueHeads * valueLength]`
public record CpuDeltaRule(
        StateOp.GatedDeltaRule op,
        int index,
        Activations qkv,
        Activations decay,
        Activations beta,
        float[] a,
        float[] bias,
        CpuStates states,
        StateMath math,
        ElementMath elements,
        Activations out)
        implements CpuKernel {
    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int parts = Math.ceilDiv(op.valueLength(), StateMath.COLUMNS);
        int items = c.runCount() * op.valueHeads() * parts;
        for (int item = c.claim(1); item < items; item = c.claim(1)) {
            int run = item / (op.valueHeads() * parts);
            correct(c, run, item / parts % op.valueHeads(), item % parts * StateMath.COLUMNS, c.work(thread));
        }
    }

    private void correct(StepContext c, int run, int head, int column, StateWork w) {
        int first = c.runStart(run);
        int value = head * op.valueLength() + column;
        int values = 2 * op.keyHeads() * op.keyLength();
        w.state = states.state(c.input().stateSlot(c.input().sequence(first)), index);
        w.at = value * op.keyLength();
        w.rows = op.keyLength();
        w.columns = Math.min(StateMath.COLUMNS, op.valueLength() - column);
        w.in = qkv.data;
        w.out = out.data;
        for (int t = first; t < c.runStart(run + 1); t++) {
            token(t, head, w);
            w.column = t * qkv.width + values + value;
            w.to = t * out.width + value;
            math.correct(w);
        }
    }

    private void token(int t, int head, StateWork w) {
        int length = op.keyLength();
        if (op.decays() == 1) {
            w.decay = decay(t, head, 0);
        } else {
            w.decay = 1;
            decayRows(t, head, w);
        }
        w.strength = (float) (1 / (1 + Math.exp(-beta.data[t * beta.width + head])));
        w.query = t * qkv.width + op.keyHead(head) * length;
        w.key = w.query + op.keyHeads() * length;
        w.queryFactor = (float) (1 / (Math.max(length(w.query), op.eps()) * Math.sqrt(length)));
        w.keyFactor = (float) (1 / Math.max(length(w.key), op.eps()));
    }

    private float decay(int t, int head, int key) {
        int i = head * op.decays() + key;
        return (float) Math.exp(a[head] * StateMath.softplus(decay.data[t * decay.width + i] + bias[i]));
    }

    /// Each row of the state by the decay of its element of the key.
    private void decayRows(int t, int head, StateWork w) {
        for (int row = 0; row < w.rows; row++) {
            float factor = decay(t, head, row);
            int from = w.at + row * w.columns;
            for (int i = from; i < from + w.columns; i++) {
                w.state[i] *= factor;
            }
        }
    }

    private double length(int from) {
        return Math.sqrt(elements.sumOfSquares(qkv.data, from, op.keyLength()));
    }
}
