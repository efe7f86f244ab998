package dev.tenon.benchmarks;

import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// One layer of attention between a small embedding and a small head, in float32; and the same in plain
/// float64.
final class AttentionModel implements Weights {
    static final int TOKENS = 16;
    private static final int WIDTH = 32;
    private static final int HEADS = 32;
    private static final int HEADS_KV = 8;
    private static final int LENGTH = 64;
    private static final float SCALE = 0.125f;

    private final QuantFormat f32 = Services.format("F32");
    private final Arena arena = Arena.ofAuto();
    private final Random random = new Random(3);
    private final Map<String, float[]> values = new HashMap<>();
    private final Map<String, MemorySegment> memory = new HashMap<>();
    /// What to compile.
    final Graph graph;

    AttentionModel() {
        GraphBuilder b = new GraphBuilder("attention");
        Value x = b.embedding("x", weight("table", WIDTH, TOKENS, 1));
        Value q = b.linear("q", x, weight("q", WIDTH, HEADS * LENGTH, 0.3), Optional.empty());
        Value k = b.linear("k", x, weight("k", WIDTH, HEADS_KV * LENGTH, 0.3), Optional.empty());
        Value v = b.linear("v", x, weight("v", WIDTH, HEADS_KV * LENGTH, 0.3), Optional.empty());
        Value a = b.attention("a", q, k, v, 0, HEADS, HEADS_KV, SCALE);
        Weight head = weight("head", HEADS * LENGTH, TOKENS, 0.05);
        graph = b.build(b.linear("logits", b.selectRows("last", a), head, Optional.empty()));
    }

    private Weight weight(String name, int cols, int rows, double deviation) {
        float[] w = new float[cols * rows];
        for (int i = 0; i < w.length; i++) {
            w[i] = (float) (random.nextGaussian() * deviation);
        }
        values.put(name, w);
        memory.put(name, arena.allocateFrom(ValueLayout.JAVA_FLOAT, w).asReadOnly());
        return new Weight(name, cols, rows);
    }

    /// {@return the token at a position}
    ///
    /// @param position position
    static int token(int position) {
        return position * 7 % TOKENS;
    }

    /// {@return the logits after the last of so many positions}
    ///
    /// @param positions number of positions
    double[] logits(int positions) {
        double[][] keys = new double[TOKENS][];
        double[][] mixed = new double[TOKENS][];
        for (int t = 0; t < TOKENS; t++) {
            double[] x = new double[WIDTH];
            for (int i = 0; i < WIDTH; i++) {
                x[i] = values.get("table")[t * WIDTH + i];
            }
            keys[t] = times("k", x);
            mixed[t] = times("v", x);
        }
        double[] last = new double[WIDTH];
        for (int i = 0; i < WIDTH; i++) {
            last[i] = values.get("table")[token(positions - 1) * WIDTH + i];
        }
        double[] q = times("q", last);
        double[] out = new double[HEADS * LENGTH];
        for (int h = 0; h < HEADS; h++) {
            int kv = h / (HEADS / HEADS_KV) * LENGTH;
            double sum = 0;
            for (int p = 0; p < positions; p++) {
                double score = 0;
                for (int i = 0; i < LENGTH; i++) {
                    score += q[h * LENGTH + i] * keys[token(p)][kv + i];
                }
                double weight = Math.exp(score * SCALE);
                sum += weight;
                for (int i = 0; i < LENGTH; i++) {
                    out[h * LENGTH + i] += weight * mixed[token(p)][kv + i];
                }
            }
            for (int i = 0; i < LENGTH; i++) {
                out[h * LENGTH + i] /= sum;
            }
        }
        return times("head", out);
    }

    private double[] times(String name, double[] x) {
        float[] w = values.get(name);
        double[] out = new double[w.length / x.length];
        for (int r = 0; r < out.length; r++) {
            for (int i = 0; i < x.length; i++) {
                out[r] += w[r * x.length + i] * x[i];
            }
        }
        return out;
    }

    @Override
    public TensorInfo info(String name) {
        throw new UnsupportedOperationException("there is no file behind " + name);
    }

    @Override
    public QuantFormat format(String name) {
        return f32;
    }

    @Override
    public MemorySegment data(String name) {
        return memory.get(name);
    }
}
