package dev.tenon.backend.cpu.vector.math;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.RopeParams;

/// Sines and cosines of a step's positions, shared by all layers that rotate alike.
///
/// Angles are computed in double: `position * frequency(i) / factor[i]`, with a coordinate in place of the position
/// where the pair has an axis, and that of the first token of a run where there are runs.
public final class RopeTable {
    private final int pairs;
    private final double[] frequency;
    /// The axis of each pair; null where all are rotated by the position.
    private final int[] axes;
    private final int run;
    private final float factor;
    private final float[] cos;
    private final float[] sin;

    /// Prepares the frequencies.
    ///
    /// @param params how to rotate
    /// @param factors divisors, one a pair, or empty
    /// @param cos `[maxTokens, ropeDim / 2]`, owned by the plan
    /// @param sin same
    public RopeTable(RopeParams params, float[] factors, float[] cos, float[] sin) {
        this.pairs = params.ropeDim() / 2;
        this.frequency = new double[pairs];
        this.axes = params.turns().isEmpty()
                ? null
                : params.turns().stream().mapToInt(RopeParams.Turn::axis).toArray();
        this.run = params.run();
        this.factor = params.attentionFactor();
        this.cos = cos;
        this.sin = sin;
        for (int i = 0; i < pairs; i++) {
            double base = params.frequency(i);
            frequency[i] = factors.length > 0 ? base / factors[i] : base;
        }
    }

    /// Fills the table for a step.
    ///
    /// @param input the positions
    public void fill(StepInput input) {
        for (int t = 0; t < input.tokenCount(); t++) {
            double position = input.position(t) - input.position(t) % run;
            for (int i = 0; i < pairs; i++) {
                double angle = (axes == null ? position : input.coordinate(t, axes[i])) * frequency[i];
                cos[t * pairs + i] = (float) (Math.cos(angle) * factor);
                sin[t * pairs + i] = (float) (Math.sin(angle) * factor);
            }
        }
    }

    /// Rotates one head; source and target may be the same.
    ///
    /// @param token index in the batch
    /// @param params how; same frequencies as this table's
    /// @param x source
    /// @param xOffset where the head starts
    /// @param out target
    /// @param outOffset where the head starts
    public void head(int token, RopeParams params, float[] x, int xOffset, float[] out, int outOffset) {
        boolean interleaved = params.pairing() == RopeParams.Pairing.INTERLEAVED;
        int step = interleaved ? 2 : 1;
        int half = params.span() / 2;
        int other = interleaved ? 1 : half;
        for (int first = 0; first < pairs; first += half) {
            for (int i = first; i < first + half; i++) {
                float c = cos[token * pairs + i];
                float s = sin[token * pairs + i];
                int at = 2 * first + (i - first) * step;
                float a = x[xOffset + at];
                float b = x[xOffset + at + other];
                out[outOffset + at] = a * c - b * s;
                out[outOffset + at + other] = a * s + b * c;
            }
        }
        if (x != out || xOffset != outOffset) {
            int rest = 2 * pairs;
            System.arraycopy(x, xOffset + rest, out, outOffset + rest, params.headDim() - rest);
        }
    }
}
