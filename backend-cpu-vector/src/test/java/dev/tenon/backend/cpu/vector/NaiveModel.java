package dev.tenon.backend.cpu.vector;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntToDoubleFunction;

/// Runs a graph of core ops over one whole sequence in double, op by op, by the formulas of the ops'
/// descriptions: what the backend's results are compared with. No cache, no threads, no vectors.
public final class NaiveModel {
    private final Graph graph;
    private final TestWeights weights;

    public NaiveModel(Graph graph, TestWeights weights) {
        this.graph = graph.expanded();
        this.weights = weights;
    }

    /// {@return `[tokens, nVocab]`, the logits behind every token; positions count from 0}
    public double[][] logits(int... tokens) {
        Map<Integer, double[][]> values = new HashMap<>();
        for (Op op : graph.ops()) {
            Value out = op.outputs().getFirst();
            double[][] y = new double[tokens.length][out.width()];
            for (int t = 0; t < tokens.length; t++) {
                row(op, values, tokens, t, y);
            }
            values.put(out.id(), y);
        }
        return values.get(graph.output().id());
    }

    private void row(Op op, Map<Integer, double[][]> values, int[] tokens, int t, double[][] y) {
        double[] x =
                op.inputs().isEmpty() ? null : values.get(op.inputs().getFirst().id())[t];
        double[] second =
                op.inputs().size() < 2 ? null : values.get(op.inputs().get(1).id())[t];
        double[] out = y[t];
        switch (op) {
            case CoreOp.Embedding e -> {
                float[] table = weights.values(e.table().name());
                for (int i = 0; i < out.length; i++) {
                    out[i] = table[tokens[t] * out.length + i];
                }
            }
            case CoreOp.RmsNorm n -> norm(n, x, out);
            case CoreOp.Linear l -> {
                float[] w = weights.values(l.weight().name());
                for (int r = 0; r < out.length; r++) {
                    for (int c = 0; c < x.length; c++) {
                        out[r] += w[r * x.length + c] * x[c];
                    }
                    out[r] +=
                            l.bias().isPresent() ? weights.values(l.bias().get().name())[r] : 0;
                }
            }
            case CoreOp.Rope r -> rope(r.params(), x, t, out);
            case CoreOp.Attention a -> attention(a, values, t, out);
            case CoreOp.Add a -> each(out, i -> x[i] + second[i]);
            case CoreOp.Multiply m -> each(out, i -> x[i] * second[i]);
            case CoreOp.Scale s -> each(out, i -> x[i] * s.factor());
            case CoreOp.SoftCap s -> each(out, i -> s.cap() * Math.tanh(x[i] / s.cap()));
            case CoreOp.SelectRows s -> System.arraycopy(x, 0, out, 0, out.length);
            case CoreOp.Activate a ->
                each(out, i -> switch (a.activation()) {
                    case SILU -> x[i] / (1 + Math.exp(-x[i]));
                    case GELU_TANH ->
                        x[i] / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x[i] + 0.044715 * Math.pow(x[i], 3))));
                    case RELU -> Math.max(0, x[i]);
                });
            default -> throw new IllegalStateException(op.kind());
        }
    }

    private static void each(double[] out, IntToDoubleFunction function) {
        Arrays.setAll(out, function);
    }

    private void norm(CoreOp.RmsNorm n, double[] x, double[] out) {
        float[] w = weights.values(n.weight().name());
        for (int g = 0; g < x.length; g += w.length) {
            double sum = 0;
            for (int i = 0; i < w.length; i++) {
                sum += x[g + i] * x[g + i];
            }
            for (int i = 0; i < w.length; i++) {
                out[g + i] = x[g + i] / Math.sqrt(sum / w.length + n.eps()) * w[i];
            }
        }
    }

    private void rope(RopeParams p, double[] x, int position, double[] out) {
        System.arraycopy(x, 0, out, 0, x.length);
        float[] factors = p.freqFactors().map(w -> weights.values(w.name())).orElse(null);
        for (int h = 0; h < x.length; h += p.headDim()) {
            for (int i = 0; i < p.ropeDim() / 2; i++) {
                double angle = position * p.freqScale() * Math.pow(p.freqBase(), -2.0 * i / p.ropeDim());
                angle = factors == null ? angle : angle / factors[i];
                boolean interleaved = p.pairing() == RopeParams.Pairing.INTERLEAVED;
                int first = h + (interleaved ? 2 * i : i);
                int other = h + (interleaved ? 2 * i + 1 : i + p.ropeDim() / 2);
                out[first] = x[first] * Math.cos(angle) - x[other] * Math.sin(angle);
                out[other] = x[first] * Math.sin(angle) + x[other] * Math.cos(angle);
            }
        }
    }

    private static void attention(CoreOp.Attention a, Map<Integer, double[][]> values, int t, double[] out) {
        double[][] q = values.get(a.q().id());
        double[][] k = values.get(a.k().id());
        double[][] v = values.get(a.v().id());
        int first = a.slidingWindow() > 0 ? Math.max(0, t - a.slidingWindow() + 1) : 0;
        for (int h = 0; h < a.headCount(); h++) {
            int g = h / (a.headCount() / a.headCountKv());
            double[] weight = new double[t + 1];
            double sum = 0;
            for (int p = first; p <= t; p++) {
                double score = 0;
                for (int i = 0; i < a.keyLength(); i++) {
                    score += q[t][h * a.keyLength() + i] * k[p][g * a.keyLength() + i];
                }
                score *= a.scale();
                score = a.softCap() > 0 ? a.softCap() * Math.tanh(score / a.softCap()) : score;
                weight[p] = Math.exp(score);
                sum += weight[p];
            }
            for (int p = first; p <= t; p++) {
                for (int i = 0; i < a.valueLength(); i++) {
                    out[h * a.valueLength() + i] += weight[p] / sum * v[p][g * a.valueLength() + i];
                }
            }
        }
    }
}
