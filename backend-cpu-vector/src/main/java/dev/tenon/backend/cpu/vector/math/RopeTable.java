package dev.tenon.backend.cpu.vector.math;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.RopeParams;

/// Sines and cosines of a step's positions, shared by all layers that rotate alike.
///
/// Angles are computed in double: `position * frequency(i) / factor[i]`.
public final class RopeTable {
    private final int pairs;
    private final double[] frequency;
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
            double position = input.position(t);
            for (int i = 0; i < pairs; i++) {
                double angle = position * frequency[i];
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
        int other = interleaved ? 1 : pairs;
        for (int i = 0; i < pairs; i++) {
            float c = cos[token * pairs + i];
            float s = sin[token * pairs + i];
            float a = x[xOffset + i * step];
            float b = x[xOffset + i * step + other];
            out[outOffset + i * step] = a * c - b * s;
            out[outOffset + i * step + other] = a * s + b * c;
        }
        if (x != out || xOffset != outOffset) {
            int rest = 2 * pairs;
            System.arraycopy(x, xOffset + rest, out, outOffset + rest, params.headDim() - rest);
        }
    }
}
