package dev.tenon.backend.cpu.vector;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.util.Optional;
import java.util.Random;

/// A decoder of two layers with random weights, in the shape of llama (or of qwen3, with QK-norm).
///
/// @param graph the graph
/// @param weights its weights
public record TinyModel(Graph graph, TestWeights weights) {
    public static final int VOCABULARY = 97;
    public static final int WIDTH = 256;
    static final int HEADS = 4;
    public static final int HEADS_KV = 2;
    public static final int HEAD_DIM = 64;
    static final int FEED_FORWARD = 512;
    static final float EPS = 1e-5f;

    /// {@return a model}
    ///
    /// @param seed of the weights
    /// @param matrixFormat format of the matrices
    /// @param qkNorm whether heads are normed; then pairs are half-split too
    public static TinyModel create(long seed, QuantFormat matrixFormat, boolean qkNorm) {
        Random random = new Random(seed);
        TestWeights weights = new TestWeights();
        GraphBuilder b = new GraphBuilder("tiny");
        RopeParams rope = RopeParams.builder(
                        HEAD_DIM, qkNorm ? RopeParams.Pairing.HALF_SPLIT : RopeParams.Pairing.INTERLEAVED, 10000)
                .build();
        Weight table = matrix(weights, random, matrixFormat, "token_embd.weight", WIDTH, VOCABULARY);
        Value x = b.embedding("embd", table);
        for (int layer = 0; layer < 2; layer++) {
            String p = "blk." + layer + ".";
            Value normed = b.rmsNorm(p + "norm", x, vector(weights, random, p + "attn_norm", WIDTH), EPS);
            Value q = project(b, weights, random, matrixFormat, p + "attn_q", normed, HEADS * HEAD_DIM);
            Value k = project(b, weights, random, matrixFormat, p + "attn_k", normed, HEADS_KV * HEAD_DIM);
            Value v = project(b, weights, random, matrixFormat, p + "attn_v", normed, HEADS_KV * HEAD_DIM);
            if (qkNorm) {
                q = b.rmsNorm(p + "qn", q, vector(weights, random, p + "attn_q_norm", HEAD_DIM), EPS);
                k = b.rmsNorm(p + "kn", k, vector(weights, random, p + "attn_k_norm", HEAD_DIM), EPS);
            }
            q = b.rope(p + "q", q, rope);
            k = b.rope(p + "k", k, rope);
            Value attended = b.attention(p + "kqv", q, k, v, layer, HEADS, HEADS_KV, 1 / (float) Math.sqrt(HEAD_DIM));
            x = b.add(p + "sa", project(b, weights, random, matrixFormat, p + "attn_output", attended, WIDTH), x);
            normed = b.rmsNorm(p + "ffn", x, vector(weights, random, p + "ffn_norm", WIDTH), EPS);
            Value gate = project(b, weights, random, matrixFormat, p + "ffn_gate", normed, FEED_FORWARD);
            Value up = project(b, weights, random, matrixFormat, p + "ffn_up", normed, FEED_FORWARD);
            Value hidden = b.multiply(p + "par", b.activate(p + "act", gate, Activation.SILU), up);
            x = b.add(p + "out", x, project(b, weights, random, matrixFormat, p + "ffn_down", hidden, WIDTH));
        }
        Value last = b.selectRows("last", x);
        last = b.rmsNorm("result_norm", last, vector(weights, random, "output_norm", WIDTH), EPS);
        return new TinyModel(b.build(b.linear("logits", last, table, Optional.empty())), weights);
    }

    private static Value project(
            GraphBuilder b, TestWeights weights, Random random, QuantFormat format, String name, Value x, int rows) {
        Weight weight = matrix(weights, random, format, name + ".weight", x.width(), rows);
        return b.linear(name, x, weight, Optional.empty());
    }

    private static Weight matrix(
            TestWeights weights, Random random, QuantFormat format, String name, int cols, int rows) {
        Weight weight = new Weight(name, cols, rows);
        weights.put(weight, format, TestWeights.random(random, weight));
        return weight;
    }

    private static Weight vector(TestWeights weights, Random random, String name, int length) {
        Weight weight = Weight.vector(name + ".weight", length);
        weights.put(weight, TestWeights.F32, TestWeights.random(random, weight));
        return weight;
    }
}
