package dev.tenon.platform.core.check;

import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// A decoder of one layer with random weights, and what it computes in scalar float64.
///
/// The scalar arithmetic reads the same encoded weights by their format's own decoder, so that a
/// difference is the backend's or the kernel's. Owns its weights: whoever made it closes it. For one
/// thread.
final class TinyModel implements Weights, AutoCloseable {
    static final int VOCAB = 48;
    private static final int WIDTH = 256;
    private static final int HEADS = 4;
    private static final int KV_HEADS = 2;
    private static final int HEAD = WIDTH / HEADS;
    private static final float EPS = 1e-5f;
    private static final float BASE = 10_000;

    private record Entry(TensorInfo info, QuantFormat format, MemorySegment data, float[] values) {}

    private final Arena arena = Arena.ofShared();
    private final Map<String, Entry> entries = new HashMap<>();
    private final Graph graph;

    /// Makes the model.
    ///
    /// @param matrices format of the matrices; it has a quantizer
    /// @param vectors format of the norms: F32
    TinyModel(QuantFormat matrices, QuantFormat vectors) {
        GraphBuilder b = new GraphBuilder("self-check");
        RopeParams rope =
                RopeParams.builder(HEAD, RopeParams.Pairing.HALF_SPLIT, BASE).build();
        Value x = b.embedding("embd", matrix("embd", VOCAB));
        Value norm = b.rmsNorm("norm", x, Weight.vector("norm", WIDTH), EPS);
        Value q = b.rope("q_rope", linear(b, "q", norm, WIDTH), rope);
        Value k = b.rope("k_rope", linear(b, "k", norm, KV_HEADS * HEAD), rope);
        Value v = linear(b, "v", norm, KV_HEADS * HEAD);
        Value attention = b.attention("attention", q, k, v, 0, HEADS, KV_HEADS, (float) (1 / Math.sqrt(HEAD)));
        x = b.add("residual", x, linear(b, "o", attention, WIDTH));
        norm = b.rmsNorm("ffn_norm", x, Weight.vector("ffn_norm", WIDTH), EPS);
        Value gate = b.activate("act", linear(b, "gate", norm, WIDTH), Activation.SILU);
        Value product = b.multiply("product", gate, linear(b, "up", norm, WIDTH));
        x = b.selectRows("rows", b.add("ffn_residual", x, linear(b, "down", product, WIDTH)));
        norm = b.rmsNorm("out_norm", x, Weight.vector("out_norm", WIDTH), EPS);
        graph = b.build(linear(b, "out", norm, VOCAB));
        for (Weight weight : graph.weights()) {
            add(weight, weight.rows() == 1 ? vectors : matrices);
        }
    }

    private static Weight matrix(String name, int rows) {
        return new Weight(name, WIDTH, rows);
    }

    private static Value linear(GraphBuilder b, String name, Value x, int rows) {
        return b.linear(name + "_out", x, matrix(name, rows), Optional.empty());
    }

    private void add(Weight weight, QuantFormat format) {
        int n = weight.cols() * weight.rows();
        Random random = new Random(weight.name().hashCode());
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) (weight.rows() == 1 ? 0.5 + random.nextDouble() : random.nextGaussian() / 16);
        }
        long bytes = format.bytesFor(n);
        MemorySegment data = arena.allocate(bytes, 64);
        format.quantizer().orElseThrow().quantize(values, 0, data, 0, n);
        format.dequantize(data, 0, values, 0, n);
        List<Long> shape = weight.rows() == 1
                ? List.of((long) weight.cols())
                : List.of((long) weight.cols(), (long) weight.rows());
        TensorInfo info = new TensorInfo(weight.name(), format.ggmlType(), shape, 0, 0, bytes);
        entries.put(weight.name(), new Entry(info, format, data.asReadOnly(), values));
    }

    Graph graph() {
        return graph;
    }

    /// Computes the logits after each token of a sequence.
    ///
    /// @param tokens token ids
    /// @return `[tokens.length][VOCAB]`
    double[][] logits(int... tokens) {
        double[][] keys = new double[tokens.length][];
        double[][] values = new double[tokens.length][];
        double[][] out = new double[tokens.length][];
        for (int t = 0; t < tokens.length; t++) {
            double[] x = new double[WIDTH];
            for (int i = 0; i < WIDTH; i++) {
                x[i] = entries.get("embd").values[tokens[t] * WIDTH + i];
            }
            double[] norm = norm("norm", x);
            double[] q = rope(times("q", norm), t);
            keys[t] = rope(times("k", norm), t);
            values[t] = times("v", norm);
            x = plus(x, times("o", attention(q, keys, values, t)));
            norm = norm("ffn_norm", x);
            double[] gate = times("gate", norm);
            double[] up = times("up", norm);
            for (int i = 0; i < WIDTH; i++) {
                up[i] *= gate[i] / (1 + Math.exp(-gate[i]));
            }
            x = plus(x, times("down", up));
            out[t] = times("out", norm("out_norm", x));
        }
        return out;
    }

    private double[] norm(String name, double[] x) {
        double squares = 0;
        for (double value : x) {
            squares += value * value;
        }
        double inverse = 1 / Math.sqrt(squares / x.length + EPS);
        double[] out = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            out[i] = x[i] * inverse * entries.get(name).values[i];
        }
        return out;
    }

    private double[] times(String name, double[] x) {
        float[] matrix = entries.get(name).values;
        double[] out = new double[matrix.length / x.length];
        for (int r = 0; r < out.length; r++) {
            for (int c = 0; c < x.length; c++) {
                out[r] += matrix[r * x.length + c] * x[c];
            }
        }
        return out;
    }

    private static double[] plus(double[] a, double[] b) {
        double[] out = a.clone();
        for (int i = 0; i < out.length; i++) {
            out[i] += b[i];
        }
        return out;
    }

    private static double[] rope(double[] x, int position) {
        double[] out = x.clone();
        int half = HEAD / 2;
        for (int head = 0; head < x.length; head += HEAD) {
            for (int i = 0; i < half; i++) {
                double angle = position * Math.pow(BASE, -2.0 * i / HEAD);
                double a = x[head + i];
                double b = x[head + i + half];
                out[head + i] = a * Math.cos(angle) - b * Math.sin(angle);
                out[head + i + half] = a * Math.sin(angle) + b * Math.cos(angle);
            }
        }
        return out;
    }

    private static double[] attention(double[] q, double[][] keys, double[][] values, int last) {
        double[] out = new double[WIDTH];
        for (int h = 0; h < HEADS; h++) {
            int from = h / (HEADS / KV_HEADS) * HEAD;
            double[] weights = new double[last + 1];
            double sum = 0;
            for (int p = 0; p <= last; p++) {
                double dot = 0;
                for (int i = 0; i < HEAD; i++) {
                    dot += q[h * HEAD + i] * keys[p][from + i];
                }
                weights[p] = Math.exp(dot / Math.sqrt(HEAD));
                sum += weights[p];
            }
            for (int p = 0; p <= last; p++) {
                for (int i = 0; i < HEAD; i++) {
                    out[h * HEAD + i] += weights[p] / sum * values[p][from + i];
                }
            }
        }
        return out;
    }

    @Override
    public TensorInfo info(String name) {
        return entries.get(name).info;
    }

    @Override
    public QuantFormat format(String name) {
        return entries.get(name).format;
    }

    @Override
    public MemorySegment data(String name) {
        return entries.get(name).data;
    }

    @Override
    public void close() {
        arena.close();
    }
}
