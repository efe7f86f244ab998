package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// Mixes each row with the one before it. Threads take ranges of channels of a sequence.
///
/// @param op the op
/// @param index its index among the ops with a state
/// @param x `[T, width]`
/// @param weight `[ways, width]`
/// @param states the last row of `x`
/// @param out `[T, ways * width]`
public record CpuTokenShift(
        RecurrentOp.TokenShift op, int index, Activations x, float[] weight, CpuStates states, Activations out)
        implements CpuKernel {
    private static final int CHANNELS = 256;

    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int ranges = Math.ceilDiv(x.width, CHANNELS);
        int items = c.runCount() * ranges;
        for (int item = c.claim(1); item < items; item = c.claim(1)) {
            int run = item / ranges;
            int from = item % ranges * CHANNELS;
            int to = Math.min(from + CHANNELS, x.width);
            int first = c.runStart(run);
            int end = c.runStart(run + 1);
            float[] state = states.state(c.input().stateSlot(c.input().sequence(first)), index);
            mix(state, 0, first, from, to);
            for (int t = first + 1; t < end; t++) {
                mix(x.data, (t - 1) * x.width, t, from, to);
            }
            System.arraycopy(x.data, (end - 1) * x.width + from, state, from, to - from);
        }
    }

    private void mix(float[] before, int row, int t, int from, int to) {
        int at = t * x.width;
        for (int n = 0; n < op.ways(); n++) {
            int way = n * x.width;
            int target = t * out.width + way;
            for (int i = from; i < to; i++) {
                float now = x.data[at + i];
                out.data[target + i] = Math.fma(weight[way + i], before[row + i] - now, now);
            }
        }
    }
}
