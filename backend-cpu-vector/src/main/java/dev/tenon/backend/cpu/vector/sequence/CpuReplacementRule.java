package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// The generalised delta rule of RWKV-7. Threads take heads of a sequence.
///
/// @param op the op
/// @param index its index among the ops with a state
/// @param rkv `[T, 3 * heads * S]`
/// @param decay `[T, heads * S]`
/// @param remove `[T, heads * S]`
/// @param add `[T, heads * S]`
/// @param states `[heads, S, S]`, keys by values
/// @param out `[T, heads * S]`
public record CpuReplacementRule(
        RecurrentOp.ReplacementRule op,
        int index,
        Activations rkv,
        Activations decay,
        Activations remove,
        Activations add,
        CpuStates states,
        Activations out)
        implements CpuKernel {
    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int items = c.runCount() * op.heads();
        for (int item = c.claim(1); item < items; item = c.claim(1)) {
            int run = item / op.heads();
            int first = c.runStart(run);
            float[] state = states.state(c.input().stateSlot(c.input().sequence(first)), index);
            for (int t = first; t < c.runStart(run + 1); t++) {
                token(
                        t,
                        item % op.heads() * op.headLength(),
                        state,
                        c.scratch(thread).floats());
            }
        }
    }

    /// @param at first element of the head
    /// @param found memory for what is taken out
    private void token(int t, int at, float[] m, float[] found) {
        int n = op.headLength();
        int row = t * out.width + at;
        int r = t * rkv.width + at;
        int k = r + out.width;
        int v = k + out.width;
        for (int j = 0; j < n; j++) {
            found[j] = 0;
            out.data[row + j] = 0;
        }
        for (int i = 0; i < n; i++) {
            addTo(found, 0, m, (at + i) * n, remove.data[row + i]);
        }
        for (int i = 0; i < n; i++) {
            float kept = (float) Math.exp(decay.data[row + i]);
            float replaced = add.data[row + i];
            float key = rkv.data[k + i];
            int from = (at + i) * n;
            for (int j = 0; j < n; j++) {
                m[from + j] = Math.fma(kept, m[from + j], Math.fma(key, rkv.data[v + j], -replaced * found[j]));
            }
            addTo(out.data, row, m, from, rkv.data[r + i]);
        }
    }

    private void addTo(float[] sum, int to, float[] m, int from, float factor) {
        for (int j = 0; j < op.headLength(); j++) {
            sum[to + j] = Math.fma(m[from + j], factor, sum[to + j]);
        }
    }
}
