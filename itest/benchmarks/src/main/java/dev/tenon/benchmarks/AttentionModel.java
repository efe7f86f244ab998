package dev.tenon.benchmarks;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.reference.KvStore;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.Optional;
import java.util.stream.IntStream;

/// One layer of attention between a small embedding and a small head, in float32.
final class AttentionModel {
    static final int TOKENS = 16;
    private static final int WIDTH = 32;
    private static final int HEADS = 32;
    private static final int HEADS_KV = 8;
    private static final int LENGTH = 64;
    private static final float SCALE = 0.125f;

    /// What to compile.
    final Graph graph;
    /// Its weights.
    final Weights weights;

    AttentionModel() {
        GraphBuilder b = new GraphBuilder("attention");
        Value x = b.embedding("x", new Weight("table", WIDTH, TOKENS));
        Value q = b.linear("q", x, new Weight("q", WIDTH, HEADS * LENGTH), Optional.empty());
        Value k = b.linear("k", x, new Weight("k", WIDTH, HEADS_KV * LENGTH), Optional.empty());
        Value v = b.linear("v", x, new Weight("v", WIDTH, HEADS_KV * LENGTH), Optional.empty());
        Value a = b.attention("a", q, k, v, 0, HEADS, HEADS_KV, SCALE);
        Weight head = new Weight("head", HEADS * LENGTH, TOKENS);
        graph = b.build(b.linear("logits", b.selectRows("last", a), head, Optional.empty()));
        weights = RandomModels.weightsFor(graph, Services.format("F32"), 3);
    }

    /// {@return the token at a position; all of them are at the first [#TOKENS] positions}
    ///
    /// @param position position
    static int token(int position) {
        return position * 7 % TOKENS;
    }

    /// {@return the logits after the last of so many positions, in float64}
    ///
    /// @param positions number of positions, at least [#TOKENS]
    double[] logits(int positions) {
        Reference reference = new Reference(graph, weights);
        KvStore cache = new ByToken();
        int[] first = IntStream.range(0, TOKENS).toArray();
        int[] tokens = IntStream.of(first).map(AttentionModel::token).toArray();
        reference.evaluate(tokens, first, cache);
        int last = positions - 1;
        return reference.evaluate(new int[] {token(last)}, new int[] {last}, cache)[0];
    }

    /// Nothing is rotated here: keys and values of a position are those of its token.
    private static final class ByToken implements KvStore {
        private final double[][] keys = new double[TOKENS][];
        private final double[][] values = new double[TOKENS][];

        @Override
        public void put(int layer, int position, double[] key, double[] value) {
            keys[token(position)] = key;
            values[token(position)] = value;
        }

        @Override
        public double[] key(int layer, int position) {
            return keys[token(position)];
        }

        @Override
        public double[] value(int layer, int position) {
            return values[token(position)];
        }
    }
}
