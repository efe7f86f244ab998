package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.StateOp;
import java.util.Optional;

/// The ops with a state, a row after the other. Formulas stand in the descriptions of the ops.
final class StateOps {
    private final DecodedWeights weights;

    StateOps(DecodedWeights weights) {
        this.weights = weights;
    }

    /// Computes the rows of some tokens of a sequence.
    ///
    /// @param op the op
    /// @param in the rows of each input, `[inputs][T][width]`
    /// @param state the state before the first token; after the last one when this returns
    /// @return the rows of the output
    double[][] evaluate(StateOp op, double[][][] in, double[] state) {
        double[][] out = new double[in[0].length][op.out().width()];
        for (int t = 0; t < out.length; t++) {
            switch (op) {
                case StateOp.ShortConvolution c -> convolution(c, in[0][t], state, out[t]);
                case StateOp.SelectiveScan s -> scan(s, in[0][t], in[1][t], state, out[t]);
                case StateOp.GatedDeltaRule d -> delta(d, in[0][t], in[1][t], in[2][t], state, out[t]);
            }
        }
        return out;
    }

    /// The state is `[taps - 1, width]`, the oldest row first.
    private void convolution(StateOp.ShortConvolution op, double[] x, double[] state, double[] out) {
        Optional<double[]> bias = op.bias().map(weights::vector);
        int width = x.length;
        int old = op.taps() - 1;
        for (int i = 0; i < width; i++) {
            double[] taps = weights.row(op.weight(), i);
            double sum = taps[old] * x[i] + (bias.isPresent() ? bias.get()[i] : 0);
            for (int j = 0; j < old; j++) {
                sum += taps[j] * state[j * width + i];
            }
            out[i] = sum;
        }
        if (old > 0) {
            System.arraycopy(state, width, state, 0, (old - 1) * width);
            System.arraycopy(x, 0, state, (old - 1) * width, width);
        }
    }

    /// The state is `[heads, P, S]`.
    private void scan(StateOp.SelectiveScan op, double[] xbc, double[] step, double[] state, double[] out) {
        float[] a = weights.all(op.a());
        float[] d = weights.all(op.d());
        float[] bias = weights.all(op.stepBias());
        int length = op.headLength();
        int n = op.stateLength();
        for (int h = 0; h < op.heads(); h++) {
            double dt = softplus(step[h] + bias[h]);
            double decay = Math.exp(dt * a[h]);
            int b = out.length + h / (op.heads() / op.groups()) * n;
            int c = b + op.groups() * n;
            for (int p = h * length; p < (h + 1) * length; p++) {
                double y = d[h] * xbc[p];
                for (int s = 0; s < n; s++) {
                    int at = p * n + s;
                    state[at] = decay * state[at] + dt * xbc[p] * xbc[b + s];
                    y += state[at] * xbc[c + s];
                }
                out[p] = y;
            }
        }
    }

    /// The state is `[valueHeads, keyLength, valueLength]`.
    private void delta(
            StateOp.GatedDeltaRule op, double[] qkv, double[] decays, double[] betas, double[] state, double[] out) {
        float[] a = weights.all(op.a());
        float[] bias = weights.all(op.decayBias());
        int keyLength = op.keyLength();
        int valueLength = op.valueLength();
        int values = 2 * op.keyHeads() * keyLength;
        for (int h = 0; h < op.valueHeads(); h++) {
            double decay = Math.exp(a[h] * softplus(decays[h] + bias[h]));
            double beta = 1 / (1 + Math.exp(-betas[h]));
            int q = op.keyHead(h) * keyLength;
            int k = q + op.keyHeads() * keyLength;
            double qFactor = 1 / Math.max(length(qkv, q, keyLength), op.eps()) / Math.sqrt(keyLength);
            double kFactor = 1 / Math.max(length(qkv, k, keyLength), op.eps());
            int base = h * keyLength * valueLength;
            for (int j = 0; j < valueLength; j++) {
                double found = 0;
                for (int i = 0; i < keyLength; i++) {
                    state[base + i * valueLength + j] *= decay;
                    found += state[base + i * valueLength + j] * qkv[k + i] * kFactor;
                }
                double error = beta * (qkv[values + h * valueLength + j] - found);
                double y = 0;
                for (int i = 0; i < keyLength; i++) {
                    state[base + i * valueLength + j] += qkv[k + i] * kFactor * error;
                    y += state[base + i * valueLength + j] * qkv[q + i] * qFactor;
                }
                out[h * valueLength + j] = y;
            }
        }
    }

    private static double length(double[] x, int from, int count) {
        double squares = 0;
        for (int i = from; i < from + count; i++) {
            squares += x[i] * x[i];
        }
        return Math.sqrt(squares);
    }

    private static double softplus(double x) {
        return x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x));
    }
}
