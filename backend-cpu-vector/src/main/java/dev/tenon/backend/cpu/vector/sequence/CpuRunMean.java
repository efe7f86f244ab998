package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.util.Arrays;

/// Makes rows of runs of tokens, a token after the other: the softmax is computed online, as that of attention.
/// Threads take ranges of channels of a sequence.
///
/// The state holds, three rows each, highest scores, sums of weights and weighted sums: of the channels of a run, or
/// with overlap of the first and the last of a run, then of the first of the run before.
///
/// @param op the op
/// @param index its index among the ops with a state
/// @param x `[T, channels]`
/// @param scores `[T, channels]`
/// @param bias `[run, channels]`
/// @param states what tokens of unfinished runs left
/// @param out `[T, width]`
public record CpuRunMean(
        RecurrentOp.RunMean op,
        int index,
        Activations x,
        Activations scores,
        float[] bias,
        CpuStates states,
        Activations out)
        implements CpuKernel {
    private static final int CHANNELS = 64;

    @Override
    public boolean selected() {
        return false;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int ranges = Math.ceilDiv(out.width, CHANNELS);
        int items = c.runCount() * ranges;
        for (int item = c.claim(1); item < items; item = c.claim(1)) {
            int sequence = item / ranges;
            int from = item % ranges * CHANNELS;
            int to = Math.min(from + CHANNELS, out.width);
            int first = c.runStart(sequence);
            float[] state = states.state(c.input().stateSlot(c.input().sequence(first)), index);
            for (int t = first; t < c.runStart(sequence + 1); t++) {
                token(state, t, c.input().position(t), from, to);
            }
        }
    }

    private void token(float[] state, int t, int position, int from, int to) {
        int width = out.width;
        int place = position % op.run();
        int own = op.overlaps() ? 3 * width : 0;
        for (int i = from; i < to; i++) {
            collect(state, i, t, place, i);
            if (op.overlaps()) {
                collect(state, own + i, t, place, width + i);
            }
        }
        if (place < op.run() - 1) {
            Arrays.fill(out.data, t * width + from, t * width + to, 0);
            return;
        }
        for (int i = from; i < to; i++) {
            int before = 2 * own + i;
            out.data[t * width + i] = op.overlaps() && position >= op.run()
                    ? merged(state, before, own + i)
                    : state[own + i + 2 * width] / state[own + i + width];
            for (int part = 0; op.overlaps() && part < 3; part++) {
                state[before + part * width] = state[i + part * width];
            }
        }
    }

    /// Takes a token into the state of a channel.
    ///
    /// @param at where the channel's highest score stands
    private void collect(float[] state, int at, int t, int place, int channel) {
        int sum = at + out.width;
        int weighted = sum + out.width;
        float value = x.data[t * x.width + channel];
        float score = scores.data[t * x.width + channel] + bias[place * x.width + channel];
        if (place == 0) {
            state[at] = score;
            state[sum] = 1;
            state[weighted] = value;
        } else if (score > state[at]) {
            float factor = (float) Math.exp(state[at] - score);
            state[at] = score;
            state[sum] = Math.fma(state[sum], factor, 1);
            state[weighted] = Math.fma(state[weighted], factor, value);
        } else {
            float weight = (float) Math.exp(score - state[at]);
            state[sum] += weight;
            state[weighted] = Math.fma(value, weight, state[weighted]);
        }
    }

    private float merged(float[] state, int a, int b) {
        int width = out.width;
        double highest = Math.max(state[a], state[b]);
        double first = Math.exp(state[a] - highest);
        double second = Math.exp(state[b] - highest);
        double sum = first * state[a + width] + second * state[b + width];
        return (float) ((first * state[a + 2 * width] + second * state[b + 2 * width]) / sum);
    }
}
