package dev.tenon.benchmarks;

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
import java.util.Map;
import java.util.Optional;

/// Decoder layers with heads of 64 and random weights. With a width of 2048, each has the shapes of a layer
/// of Llama-3.2-1B; the vocabulary is small.
final class StepModel implements Weights {
    /// Number of tokens in the vocabulary.
    static final int VOCABULARY = 2048;

    private static final int HEAD = 64;

    private final QuantFormat f32 = Services.format("F32");
    private final QuantFormat format;
    private final Arena arena = Arena.ofAuto();
    private final Map<String, MemorySegment> memory = new HashMap<>();
    private final int width;
    /// What to compile.
    final Graph graph;

    /// Makes the weights.
    ///
    /// @param format format of the matrices
    /// @param layers number of layers
    /// @param width elements of a token, a multiple of 256
    StepModel(QuantFormat format, int layers, int width) {
        this.format = format;
        this.width = width;
        GraphBuilder b = new GraphBuilder("step");
        Weight table = weight("table", format, width, VOCABULARY);
        Value x = b.embedding("x", table);
        for (int l = 0; l < layers; l++) {
            x = layer(b, l, x);
        }
        graph = b.build(b.linear("logits", b.selectRows("last", x), table, Optional.empty()));
    }

    private Value layer(GraphBuilder b, int l, Value in) {
        RopeParams rope =
                RopeParams.builder(HEAD, RopeParams.Pairing.INTERLEAVED, 500000).build();
        Weight norm = weight(l + ".norm", f32, width, 1);
        Value n = b.rmsNorm("n", in, norm, 1e-5f);
        Value q = linear(b, l + ".q", n, width);
        Value k = linear(b, l + ".k", n, width / 4);
        Value v = linear(b, l + ".v", n, width / 4);
        int heads = width / HEAD;
        Value a = b.attention("a", b.rope("q", q, rope), b.rope("k", k, rope), v, l, heads, heads / 4, 0.125f);
        Value x = b.add("r", in, linear(b, l + ".o", a, width));
        Value m = b.rmsNorm("m", x, norm, 1e-5f);
        Value gate = b.activate("s", linear(b, l + ".gate", m, 4 * width), Activation.SILU);
        Value up = linear(b, l + ".up", m, 4 * width);
        return b.add("r", x, linear(b, l + ".down", b.multiply("h", gate, up), width));
    }

    private Value linear(GraphBuilder b, String name, Value x, int rows) {
        return b.linear(name, x, weight(name, format, x.width(), rows), Optional.empty());
    }

    private Weight weight(String name, QuantFormat of, int cols, int rows) {
        memory.put(name, new Matrix(arena, of, rows, cols, 0, 0).copies[0].asReadOnly());
        return new Weight(name, cols, rows);
    }

    @Override
    public TensorInfo info(String name) {
        throw new UnsupportedOperationException("there is no file behind " + name);
    }

    @Override
    public QuantFormat format(String name) {
        return name.endsWith("norm") ? f32 : format;
    }

    @Override
    public MemorySegment data(String name) {
        return memory.get(name);
    }
}
