package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/// Attention of one token, whose sequence's keys and values are in a store.
///
/// @param op the op
/// @param sinks a score of each head without a value, or empty
/// @param bias elements of the table of the bias of scores; empty without one
record AttentionOp(CoreOp.Attention op, Optional<double[]> sinks, float[] bias) {
    static final List<OpReference<?>> ROWS = List.of(
            OpReference.of(CoreOp.Attention.class, AttentionOp::rows)
                    .terms((a, tokens) -> Math.max(a.keyLength(), tokens))
                    .enlarging(_ -> true),
            OpReference.of(SelectedAttention.class, (s, in, step) -> rows(s.attention(), in, step))
                    .terms((s, tokens) -> Math.max(s.attention().keyLength(), tokens))
                    .enlarging(_ -> true),
            OpReference.of(SelectPositions.class, AttentionOp::select)
                    .terms((s, _) -> s.k().width())
                    .enlarging(_ -> true));

    /// The positions of each token.
    private static double[][][] select(SelectPositions op, double[][][] in, Step step) {
        double[][] out = new double[step.count()][op.count()];
        for (int t = 0; t < out.length; t++) {
            step.kv.put(op.layer(), step.position(t), in[2][t], new double[0]);
        }
        for (int t = 0; t < out.length; t++) {
            double[] q = in[0][t];
            double[] weights = in[1][t];
            double[] scores = new double[step.position(t) + 1];
            for (int p = 0; p < scores.length; p++) {
                double[] key = step.kv.key(op.layer(), p);
                for (int j = 0; j < op.heads(); j++) {
                    double dot = 0;
                    for (int i = 0; i < key.length; i++) {
                        dot += q[j * key.length + i] * key[i];
                    }
                    scores[p] += weights[j] * Math.max(0, dot);
                }
            }
            int[] best = IntStream.range(0, scores.length)
                    .boxed()
                    .sorted(Comparator.comparingDouble(p -> -scores[p]))
                    .limit(op.count())
                    .mapToInt(p -> p)
                    .sorted()
                    .toArray();
            for (int i = 0; i < op.count(); i++) {
                out[t][i] = i < best.length ? best[i] : SelectPositions.NONE;
            }
        }
        return new double[][][] {out};
    }

    /// @param in queries, keys, values, and the positions that are attended to where these are not all
    private static double[][][] rows(CoreOp.Attention op, double[][][] in, Step step) {
        AttentionOp attention = new AttentionOp(
                op,
                op.params().sinks().map(step::vector),
                op.params()
                        .scoreBias()
                        .flatMap(ScoreBias::table)
                        .map(step.weights::all)
                        .orElse(new float[0]));
        double[][] out = new double[step.count()][];
        for (int t = 0; t < out.length; t++) {
            step.kv.put(op.layer(), step.position(t), in[1][t], in[2][t]);
        }
        int last = step.position(out.length - 1);
        for (int t = 0; t < out.length; t++) {
            double[] positions = in.length > 3 ? in[3][t] : null;
            out[t] = attention.row(in[0][t], positions, step.position(t), last, step.kv);
        }
        return new double[][][] {out};
    }

    /// {@return the row of a token}
    ///
    /// @param q its queries
    /// @param positions those that it attends to; null for all that it sees
    /// @param position its position
    /// @param last last position of its sequence in the step
    /// @param kv keys and values
    private double[] row(double[] q, double[] positions, int position, int last, KvStore kv) {
        int from = op.params().firstSeen(position);
        int to = op.params().lastSeen(position, last) + 1;
        if (op.params().spans()) {
            from = op.params().causal() ? from : kv.span(position)[0];
            to = kv.span(position)[1] + 1;
        }
        int length = op.valueLength();
        double[] out = new double[op.out().width()];
        IntPredicate attended =
                p -> positions == null || Arrays.stream(positions).anyMatch(other -> other == p);
        int[] seen = IntStream.range(from, to).filter(attended).toArray();
        for (int h = 0; h < op.headCount(); h++) {
            int g = h / (op.headCount() / op.headCountKv());
            double[] weights = new double[to];
            double max = sinks.isPresent() ? sinks.get()[h] : Double.NEGATIVE_INFINITY;
            for (int p : seen) {
                weights[p] = score(q, h, kv.key(op.layer(), p), g) + bias(h, p - position);
                max = Math.max(max, weights[p]);
            }
            double sum = sinks.isPresent() ? Math.exp(sinks.get()[h] - max) : 0;
            for (int p : seen) {
                weights[p] = Math.exp(weights[p] - max);
                sum += weights[p];
            }
            for (int p : seen) {
                double[] value = kv.value(op.layer(), p);
                for (int i = 0; i < length; i++) {
                    out[h * length + i] += weights[p] / sum * value[g * length + i];
                }
            }
        }
        return out;
    }

    private double bias(int head, int distance) {
        return op.params()
                .scoreBias()
                .map(b -> b.at(head, distance, op.params().causal(), bias))
                .orElse(0.0);
    }

    private double score(double[] q, int head, double[] key, int group) {
        double dot = 0;
        for (int i = 0; i < op.keyLength(); i++) {
            dot += q[head * op.keyLength() + i] * key[group * op.keyLength() + i];
        }
        double score = dot * op.params().scale();
        return op.params().softCap() == 0
                ? score
                : op.params().softCap() * Math.tanh(score / op.params().softCap());
    }
}
