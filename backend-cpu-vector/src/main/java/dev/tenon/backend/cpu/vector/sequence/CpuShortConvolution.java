package dev.tenon.backend.cpu.vector.sequence;

import dev.tenon.api.graph.StateOp;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// A causal convolution of each channel. Threads take ranges of channels of a sequence.
///
/// @param op the op
/// @param index its index among the ops with a state
/// @param x `[T, width]`
/// @param taps the weight, `[taps, width]`
/// @param bias `[width]`, or empty
/// @param states the last rows of `x`, `[taps - 1, width]`, the oldest first
/// @param out `[T, width]`
public record CpuShortConvolution(
        StateOp.ShortConvolution op,
        int index,
        Activations x,
        float[] taps,
        float[] bias,
        CpuStates states,
        Activations out)
        implements CpuKernel {
    private static final int CHANNELS = 256;

    /// {@return a weight with the channels of a tap side by side}
    ///
    /// @param weight `[width, taps]`
    /// @param count number of taps
    public static float[] byTap(float[] weight, int count) {
        float[] byTap = new float[weight.length];
        int width = weight.length / count;
        for (int i = 0; i < width; i++) {
            for (int j = 0; j < count; j++) {
                byTap[j * width + i] = weight[i * count + j];
            }
        }
        return byTap;
    }

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
            for (int t = first; t < end; t++) {
                convolve(state, first, t, from, to);
            }
            keep(state, first, end, from, to);
        }
    }

    private void convolve(float[] state, int first, int t, int from, int to) {
        int old = op.taps() - 1;
        int at = t * out.width;
        for (int i = from; i < to; i++) {
            out.data[at + i] = bias.length > 0 ? bias[i] : 0;
        }
        for (int j = 0; j <= old; j++) {
            int row = t - old + j;
            if (row >= first) {
                add(x.data, row * x.width, j * x.width, at, from, to);
            } else {
                add(state, (row - first + old) * x.width, j * x.width, at, from, to);
            }
        }
    }

    private void add(float[] source, int row, int tap, int at, int from, int to) {
        float[] target = out.data;
        for (int i = from; i < to; i++) {
            target[at + i] += taps[tap + i] * source[row + i];
        }
    }

    /// Keeps the last rows: of the state those that are still among them, then those of the step.
    private void keep(float[] state, int first, int end, int from, int to) {
        int old = op.taps() - 1;
        for (int r = 0; r < old; r++) {
            int row = end - old + r;
            float[] source = row >= first ? x.data : state;
            int at = row >= first ? row * x.width : (row - first + old) * x.width;
            System.arraycopy(source, at + from, state, r * x.width + from, to - from);
        }
    }
}
