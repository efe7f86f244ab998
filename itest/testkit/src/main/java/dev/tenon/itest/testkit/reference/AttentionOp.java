package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import java.util.ArrayList;
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
                    .enlarging(_ -> true),
            OpReference.of(RunAttention.class, AttentionOp::runs)
                    .terms((r, tokens) -> Math.max(r.near().keyLength(), tokens))
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
                    .filter(p -> p % op.run() == op.run() - 1)
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
        append(op, in[1], in[2], step);
        AttentionOp attention = of(op, step);
        int last = step.position(step.count() - 1);
        double[][] out = new double[step.count()][];
        for (int t = 0; t < out.length; t++) {
            double[] positions = in.length > 3 ? in[3][t] : null;
            int position = step.position(t);
            int[] seen = attention
                    .seen(position, last, step.kv)
                    .filter(among(positions))
                    .toArray();
            out[t] = attention.row(in[0][t], position, List.of(new Seen(op.layer(), seen)), step.kv);
        }
        return new double[][][] {out};
    }

    /// @param in queries, keys, values, keys and values of runs, and the runs that are attended to where these are
    ///     not all
    private static double[][][] runs(RunAttention op, double[][][] in, Step step) {
        append(op.near(), in[1], in[2], step);
        append(op.far(), in[3], in[4], step);
        AttentionOp attention = of(op.near(), step);
        double[][] out = new double[step.count()][];
        for (int t = 0; t < out.length; t++) {
            int position = step.position(t);
            double[] positions = in.length > 5 ? in[5][t] : null;
            int[] runs = IntStream.rangeClosed(0, position)
                    .filter(p -> p % op.run() == op.run() - 1)
                    .filter(among(positions))
                    .toArray();
            int[] seen = attention.seen(position, position, step.kv).toArray();
            out[t] = attention.row(
                    in[0][t],
                    position,
                    List.of(new Seen(op.near().layer(), seen), new Seen(op.far().layer(), runs)),
                    step.kv);
        }
        return new double[][][] {out};
    }

    /// What a token attends to in a layer.
    private record Seen(int layer, int[] positions) {}

    private static AttentionOp of(CoreOp.Attention op, Step step) {
        return new AttentionOp(
                op,
                op.params().sinks().map(step::vector),
                op.params()
                        .scoreBias()
                        .flatMap(ScoreBias::table)
                        .map(step.weights::all)
                        .orElse(new float[0]));
    }

    private static void append(CoreOp.Attention op, double[][] k, double[][] v, Step step) {
        for (int t = 0; t < step.count(); t++) {
            step.kv.put(op.layer(), step.position(t), k[t], v[t]);
        }
    }

    private static IntPredicate among(double[] positions) {
        return p -> positions == null || Arrays.stream(positions).anyMatch(other -> other == p);
    }

    /// @param last last position of the sequence in the step
    private IntStream seen(int position, int last, KvStore kv) {
        if (op.params().spans()) {
            int[] span = kv.span(position);
            return IntStream.rangeClosed(op.params().causal() ? op.params().firstSeen(position) : span[0], span[1]);
        }
        return IntStream.rangeClosed(
                op.params().firstSeen(position), op.params().lastSeen(position, last));
    }

    /// {@return the row of a token}
    ///
    /// @param q its queries
    /// @param position its position
    /// @param seen what it attends to
    /// @param kv keys and values
    private double[] row(double[] q, int position, List<Seen> seen, KvStore kv) {
        int length = op.valueLength();
        double[] out = new double[op.out().width()];
        for (int h = 0; h < op.headCount(); h++) {
            int g = h / (op.headCount() / op.headCountKv());
            double max = sinks.isPresent() ? sinks.get()[h] : Double.NEGATIVE_INFINITY;
            List<double[]> scores = new ArrayList<>();
            for (Seen part : seen) {
                double[] of = new double[part.positions.length];
                for (int i = 0; i < of.length; i++) {
                    int p = part.positions[i];
                    of[i] = score(q, h, kv.key(part.layer, p), g) + bias(h, p - position);
                    max = Math.max(max, of[i]);
                }
                scores.add(of);
            }
            double sum = sinks.isPresent() ? Math.exp(sinks.get()[h] - max) : 0;
            for (double[] of : scores) {
                for (double score : of) {
                    sum += Math.exp(score - max);
                }
            }
            for (int s = 0; s < seen.size(); s++) {
                for (int j = 0; j < scores.get(s).length; j++) {
                    double[] value = kv.value(seen.get(s).layer, seen.get(s).positions[j]);
                    double weight = Math.exp(scores.get(s)[j] - max) / sum;
                    for (int i = 0; i < length; i++) {
                        out[h * length + i] += weight * value[g * length + i];
                    }
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
