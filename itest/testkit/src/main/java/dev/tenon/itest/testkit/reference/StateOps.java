package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.StateOp;
import java.util.List;
import java.util.Optional;

/// The ops with a state, a row after the other. Formulas stand in the descriptions of the ops.
final class StateOps {
    static final List<OpReference<?>> ROWS = List.of(
            row(StateOp.ShortConvolution.class, StateOps::convolution).terms(StateOp.ShortConvolution::taps),
            row(StateOp.SelectiveScan.class, StateOps::scan)
                    .terms((s, tokens) -> Math.max(s.stateLength(), tokens))
                    .enlarging(_ -> true),
            row(StateOp.GatedDeltaRule.class, StateOps::delta)
                    .terms((d, tokens) -> Math.max(d.keyLength(), tokens))
                    .enlarging(_ -> true),
            row(RecurrentOp.TokenShift.class, StateOps::shift),
            row(RecurrentOp.ReplacementRule.class, StateOps::replace)
                    .terms((d, tokens) -> Math.max(d.headLength(), tokens))
                    .enlarging(_ -> true),
            OpReference.row(RecurrentOp.RunMean.class, StateOps::runMean)
                    .terms(r -> r.run() * (r.overlaps() ? 2 : 1))
                    .enlarging(_ -> true));

    private StateOps() {}

    /// Computes the row of a token.
    private interface Next<T extends Op> {
        /// @param in the row of each input
        /// @param weights weights of the op
        /// @param state the state before the token; after it when this returns
        /// @param out gets the row of the output
        void row(T op, double[][] in, DecodedWeights weights, double[] state, double[] out);
    }

    private static <T extends Op> OpReference<T> row(Class<T> type, Next<T> next) {
        return OpReference.row(type, (op, in, step, _) -> {
            double[] out = new double[op.outputs().getFirst().width()];
            next.row(op, in, step.weights, step.kv.state(op), out);
            return out;
        });
    }

    /// The state is `[taps - 1, width]`, the oldest row first.
    private static void convolution(
            StateOp.ShortConvolution op, double[][] in, DecodedWeights weights, double[] state, double[] out) {
        double[] x = in[0];
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
    private static void scan(
            StateOp.SelectiveScan op, double[][] in, DecodedWeights weights, double[] state, double[] out) {
        double[] xbc = in[0];
        double[] step = in[1];
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
    private static void delta(
            StateOp.GatedDeltaRule op, double[][] in, DecodedWeights weights, double[] state, double[] out) {
        double[] qkv = in[0];
        double[] decays = in[1];
        double[] betas = in[2];
        float[] a = weights.all(op.a());
        float[] bias = weights.all(op.decayBias());
        int keyLength = op.keyLength();
        int valueLength = op.valueLength();
        int values = 2 * op.keyHeads() * keyLength;
        for (int h = 0; h < op.valueHeads(); h++) {
            double[] decay = new double[keyLength];
            for (int i = 0; i < keyLength; i++) {
                int at = h * op.decays() + i % op.decays();
                decay[i] = Math.exp(a[h] * softplus(decays[at] + bias[at]));
            }
            double beta = 1 / (1 + Math.exp(-betas[h]));
            int q = op.keyHead(h) * keyLength;
            int k = q + op.keyHeads() * keyLength;
            double qFactor = 1 / Math.max(length(qkv, q, keyLength), op.eps()) / Math.sqrt(keyLength);
            double kFactor = 1 / Math.max(length(qkv, k, keyLength), op.eps());
            int base = h * keyLength * valueLength;
            for (int j = 0; j < valueLength; j++) {
                double found = 0;
                for (int i = 0; i < keyLength; i++) {
                    state[base + i * valueLength + j] *= decay[i];
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

    /// The state is the last row.
    private static void shift(
            RecurrentOp.TokenShift op, double[][] in, DecodedWeights weights, double[] state, double[] out) {
        double[] x = in[0];
        for (int n = 0; n < op.ways(); n++) {
            double[] weight = weights.row(op.weight(), n);
            for (int i = 0; i < x.length; i++) {
                out[n * x.length + i] = x[i] + weight[i] * (state[i] - x[i]);
            }
        }
        System.arraycopy(x, 0, state, 0, x.length);
    }

    /// The state is `[heads, S, S]`, keys by values.
    private static void replace(
            RecurrentOp.ReplacementRule op, double[][] in, DecodedWeights weights, double[] state, double[] out) {
        int n = op.headLength();
        int width = out.length;
        double[] rkv = in[0];
        for (int at = 0; at < width; at += n) {
            for (int j = 0; j < n; j++) {
                double found = 0;
                for (int i = 0; i < n; i++) {
                    found += state[(at + i) * n + j] * in[2][at + i];
                }
                double y = 0;
                for (int i = 0; i < n; i++) {
                    int m = (at + i) * n + j;
                    state[m] = Math.exp(in[1][at + i]) * state[m]
                            - in[3][at + i] * found
                            + rkv[width + at + i] * rkv[2 * width + at + j];
                    y += state[m] * rkv[at + i];
                }
                out[at + j] = y;
            }
        }
    }

    /// The state is, for each channel, the highest score, the sum of weights and the weighted sum: of a run, or with
    /// overlap of both halves of a run, then of the first half of the run before.
    private static double[] runMean(RecurrentOp.RunMean op, double[][] in, Step step, int t) {
        double[] state = step.kv.state(op);
        int width = op.out().width();
        int parts = op.x().width() / width;
        int position = step.position(t);
        int place = position % op.run();
        double[] bias = step.weights.row(op.bias(), place);
        for (int i = 0; i < op.x().width(); i++) {
            int at = i / width * 3 * width + i % width;
            double score = in[1][i] + bias[i];
            double max = place == 0 ? score : Math.max(state[at], score);
            double kept = place == 0 ? 0 : Math.exp(state[at] - max);
            double weight = Math.exp(score - max);
            state[at] = max;
            state[at + width] = kept * state[at + width] + weight;
            state[at + 2 * width] = kept * state[at + 2 * width] + weight * in[0][i];
        }
        double[] out = new double[width];
        if (place < op.run() - 1) {
            return out;
        }
        for (int i = 0; i < width; i++) {
            int own = (parts - 1) * 3 * width + i;
            int before = position < op.run() || parts == 1 ? own : 6 * width + i;
            double max = Math.max(state[own], state[before]);
            double a = Math.exp(state[own] - max);
            double b = before == own ? 0 : Math.exp(state[before] - max);
            out[i] = (a * state[own + 2 * width] + b * state[before + 2 * width])
                    / (a * state[own + width] + b * state[before + width]);
        }
        if (parts > 1) {
            System.arraycopy(state, 0, state, 6 * width, 3 * width);
        }
        return out;
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
