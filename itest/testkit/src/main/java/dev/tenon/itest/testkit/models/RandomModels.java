package dev.tenon.itest.testkit.models;

import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/// Builds small random graphs with weights in memory; the same seed gives the same model.
///
/// Matrices take the format that is asked for, vectors (norms, biases, frequency factors) F32, as in model
/// files.
public final class RandomModels {
    private RandomModels() {}

    /// A graph with its weights. Owns the weights: whoever made it closes it.
    ///
    /// @param name what a failure calls it, with everything needed to make it again
    /// @param graph the graph, not fused
    /// @param weights its weights
    /// @param vocabularySize tokens are 0 to this - 1
    public record Model(String name, Graph graph, MemoryWeights weights, int vocabularySize) implements AutoCloseable {
        @Override
        public void close() {
            weights.close();
        }
    }

    /// Sizes of a decoder model.
    ///
    /// @param layers number of layers
    /// @param embeddingLength width of the residual stream
    /// @param headCount query heads
    /// @param headCountKv key and value heads
    /// @param headDim elements of a head
    /// @param feedForwardLength width of the feed-forward layer
    /// @param vocabularySize tokens
    public record Shape(
            int layers,
            int embeddingLength,
            int headCount,
            int headCountKv,
            int headDim,
            int feedForwardLength,
            int vocabularySize) {
        /// {@return a small shape whose rows are whole blocks of a format}
        ///
        /// @param format the format of the matrices
        public static Shape smallFor(QuantFormat format) {
            int block = format.blockSize();
            if (block <= 32 && 64 % block == 0) {
                return new Shape(2, 64, 4, 2, 16, 96, 67);
            }
            if (256 % block == 0) {
                return new Shape(2, 256, 4, 2, 64, 256, 67);
            }
            return new Shape(2, 8 * block, 4, 2, 2 * block, 12 * block, 67);
        }
    }

    /// Makes a llama-like model: interleaved rope with frequency factors, its own output matrix.
    ///
    /// @param seed seed of the weights
    /// @param format format of the matrices
    /// @param shape sizes; rows must be whole blocks
    /// @return the model; the caller closes it
    public static Model llamaLike(long seed, QuantFormat format, Shape shape) {
        GraphBuilder b = new GraphBuilder("random-llama");
        Weight factors = Weight.vector("rope_freqs.weight", shape.headDim() / 2);
        RopeParams rope = RopeParams.builder(shape.headDim(), RopeParams.Pairing.INTERLEAVED, 10_000)
                .freqFactors(Optional.of(factors))
                .build();
        Weight table = new Weight("token_embd.weight", shape.embeddingLength(), shape.vocabularySize());
        Weight head = new Weight("output.weight", shape.embeddingLength(), shape.vocabularySize());
        Graph graph = decoder(b, shape, rope, false, table, head);
        return model("llamaLike", seed, format, shape, graph);
    }

    /// Makes a qwen3-like model: QK-norm, half-split rope, heads wider than the residual stream's
    /// share, tied output matrix.
    ///
    /// @param seed seed of the weights
    /// @param format format of the matrices
    /// @param shape sizes; rows must be whole blocks
    /// @return the model; the caller closes it
    public static Model qwen3Like(long seed, QuantFormat format, Shape shape) {
        GraphBuilder b = new GraphBuilder("random-qwen3");
        RopeParams rope = RopeParams.builder(shape.headDim(), RopeParams.Pairing.HALF_SPLIT, 1_000_000)
                .build();
        Weight table = new Weight("token_embd.weight", shape.embeddingLength(), shape.vocabularySize());
        Graph graph = decoder(b, shape, rope, true, table, table);
        return model("qwen3Like", seed, format, shape, graph);
    }

    private static Model model(String kind, long seed, QuantFormat format, Shape shape, Graph graph) {
        String name = kind + " seed=" + seed + " " + format.id() + " " + shape;
        return new Model(name, graph, weightsFor(graph, format, seed), shape.vocabularySize());
    }

    private static Graph decoder(
            GraphBuilder b, Shape shape, RopeParams rope, boolean qkNorm, Weight table, Weight head) {
        int e = shape.embeddingLength();
        int heads = shape.headCount();
        int kvHeads = shape.headCountKv();
        int dim = shape.headDim();
        Value x = b.embedding("embd", table);
        for (int l = 0; l < shape.layers(); l++) {
            String p = "blk." + l + ".";
            Value norm = b.rmsNorm(p + "attn_norm", x, Weight.vector(p + "attn_norm.weight", e), 1e-5f);
            Value q = linear(b, p + "attn_q", norm, heads * dim);
            Value k = linear(b, p + "attn_k", norm, kvHeads * dim);
            Value v = linear(b, p + "attn_v", norm, kvHeads * dim);
            if (qkNorm) {
                q = b.rmsNorm(p + "q_norm", q, Weight.vector(p + "attn_q_norm.weight", dim), 1e-6f);
                k = b.rmsNorm(p + "k_norm", k, Weight.vector(p + "attn_k_norm.weight", dim), 1e-6f);
            }
            q = b.rope(p + "q_rope", q, rope);
            k = b.rope(p + "k_rope", k, rope);
            Value att = b.attention(p + "attn", q, k, v, l, heads, kvHeads, (float) (1 / Math.sqrt(dim)));
            x = b.add(p + "attn_residual", x, linear(b, p + "attn_output", att, e));
            Value ffnNorm = b.rmsNorm(p + "ffn_norm", x, Weight.vector(p + "ffn_norm.weight", e), 1e-5f);
            Value gate = linear(b, p + "ffn_gate", ffnNorm, shape.feedForwardLength());
            Value up = linear(b, p + "ffn_up", ffnNorm, shape.feedForwardLength());
            Value act = b.activate(p + "ffn_act", gate, Activation.SILU);
            Value product = b.multiply(p + "ffn_product", act, up);
            x = b.add(p + "ffn_residual", x, linear(b, p + "ffn_down", product, e));
        }
        Value rows = b.selectRows("rows", x);
        Value last = b.rmsNorm("output_norm", rows, Weight.vector("output_norm.weight", e), 1e-5f);
        return b.build(b.linear("logits", last, head, Optional.empty()));
    }

    private static Value linear(GraphBuilder b, String name, Value x, int rows) {
        return b.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }

    /// Makes a graph of an F32 embedding, the given ops and a selection of rows.
    ///
    /// @param name what a failure calls it
    /// @param seed seed of the weights
    /// @param width width of the embedding
    /// @param format format of the matrices of the ops
    /// @param ops adds ops after the embedding and returns the value to look at
    /// @return the model; the caller closes it
    public static Model ops(
            String name, long seed, int width, QuantFormat format, BiFunction<GraphBuilder, Value, Value> ops) {
        return whole(name, seed, width, format, (b, x) -> b.selectRows("rows", ops.apply(b, x)));
    }

    /// Makes a graph of an F32 embedding and the given ops.
    ///
    /// @param name what a failure calls it
    /// @param seed seed of the weights
    /// @param width width of the embedding
    /// @param format format of the matrices of the ops
    /// @param ops adds ops after the embedding and returns the graph's output
    /// @return the model; the caller closes it
    public static Model whole(
            String name, long seed, int width, QuantFormat format, BiFunction<GraphBuilder, Value, Value> ops) {
        int vocabularySize = 41;
        GraphBuilder b = new GraphBuilder(name);
        Weight table = new Weight("token_embd.weight", width, vocabularySize);
        Graph graph = b.build(ops.apply(b, b.embedding("embd", table)));
        Set<Weight> routing = routing(graph);
        Function<Weight, QuantFormat> formats =
                w -> isSmall(w) || w.equals(table) || routing.contains(w) ? TestFormats.F32 : format;
        return new Model(name + " seed=" + seed, graph, weightsFor(graph, formats, seed), vocabularySize);
    }

    /// The matrices that routers choose by: F32, as in files, because with rounded activations another expert
    /// may win.
    private static Set<Weight> routing(Graph graph) {
        Set<Value> logits = new HashSet<>();
        for (Op op : graph.ops()) {
            if (op instanceof ExpertOp.Router router) {
                logits.add(router.logits());
            }
        }
        Set<Weight> matrices = new HashSet<>();
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Linear linear && logits.contains(linear.out())) {
                matrices.add(linear.weight());
            }
        }
        return matrices;
    }

    /// Makes a graph of a single matrix product, `rows` x `cols`, between embedding and selection of rows.
    ///
    /// @param seed seed of the weights
    /// @param format format of the matrix
    /// @param cols elements in a row, whole blocks
    /// @param rows number of rows
    /// @param bias whether it has a bias
    /// @return the model; the caller closes it
    public static Model linear(long seed, QuantFormat format, int cols, int rows, boolean bias) {
        int vocabularySize = 41;
        GraphBuilder b = new GraphBuilder("linear");
        Weight table = new Weight("token_embd.weight", cols, vocabularySize);
        Weight matrix = new Weight("matrix.weight", cols, rows);
        Optional<Weight> offsets = bias ? Optional.of(Weight.vector("matrix.bias", rows)) : Optional.empty();
        Value x = b.selectRows("rows", b.embedding("embd", table));
        Graph graph = b.build(b.linear("product", x, matrix, offsets));
        String name = "linear seed=" + seed + " " + format.id() + " cols=" + cols + " rows=" + rows + " bias=" + bias;
        Function<Weight, QuantFormat> formats = w -> w.equals(matrix) ? format : TestFormats.F32;
        return new Model(name, graph, weightsFor(graph, formats, seed), vocabularySize);
    }

    /// Makes a graph that only looks rows up.
    ///
    /// @param seed seed of the weights
    /// @param format format of the table
    /// @param width elements in a row, whole blocks
    /// @return the model; the caller closes it
    public static Model embedding(long seed, QuantFormat format, int width) {
        int vocabularySize = 41;
        GraphBuilder b = new GraphBuilder("embedding");
        Weight table = new Weight("token_embd.weight", width, vocabularySize);
        Graph graph = b.build(b.selectRows("rows", b.embedding("embd", table)));
        String name = "embedding seed=" + seed + " " + format.id() + " width=" + width;
        return new Model(name, graph, weightsFor(graph, w -> format, seed), vocabularySize);
    }

    /// Makes random weights for any graph: matrices in one format, vectors in F32.
    ///
    /// @param graph the graph
    /// @param format format of the matrices
    /// @param seed seed of the weights
    /// @return the weights; the caller closes them
    public static MemoryWeights weightsFor(Graph graph, QuantFormat format, long seed) {
        return weightsFor(graph, w -> isSmall(w) ? TestFormats.F32 : format, seed);
    }

    /// Makes random weights for any graph.
    ///
    /// Matrices get values around `1 / sqrt(cols)`, norm weights and frequency factors values from
    /// 0.5 to 1.5, embeddings around 1, decays of states (`ssm_a`) values from -1.5 to -0.5, so that activations
    /// keep their size from layer to layer.
    ///
    /// @param graph the graph
    /// @param formats the format of each weight
    /// @param seed seed of the weights
    /// @return the weights; the caller closes them
    public static MemoryWeights weightsFor(Graph graph, Function<Weight, QuantFormat> formats, long seed) {
        Map<String, Weight> tables = new LinkedHashMap<>();
        graph.expanded().ops().forEach(op -> {
            if (op instanceof CoreOp.Embedding embedding) {
                tables.put(embedding.table().name(), embedding.table());
            }
        });
        MemoryWeights weights = new MemoryWeights();
        for (Weight weight : graph.weights()) {
            add(weights, weight, formats.apply(weight), tables.containsKey(weight.name()), seed);
        }
        return weights;
    }

    private static void add(MemoryWeights weights, Weight weight, QuantFormat format, boolean table, long seed) {
        Random random = new Random(seed * 31 + weight.name().hashCode());
        double size = table ? 1 : 1 / Math.sqrt(weight.cols());
        weights.add(weight, format, blocks(weight, format, size, random));
    }

    /// Makes random F32 weights for the tensors of a file; those of a name, a shape and a seed never change.
    ///
    /// @param shapes lengths by name, the fastest first
    /// @param tables which of them are embeddings
    /// @param seed seed of the weights
    /// @return the weights; the caller closes them
    public static MemoryWeights weightsFor(Map<String, List<Long>> shapes, Set<String> tables, long seed) {
        MemoryWeights weights = new MemoryWeights();
        shapes.forEach((name, shape) -> {
            int[] lengths = shape.stream().mapToInt(Math::toIntExact).toArray();
            Weight weight = new Weight(
                    name, lengths[0], lengths.length > 1 ? lengths[1] : 1, lengths.length > 2 ? lengths[2] : 1);
            add(weights, weight, TestFormats.F32, tables.contains(name), seed);
        });
        return weights;
    }

    /// Writes a model as a GGUF file.
    ///
    /// @param metadata keys and values
    /// @param shapes lengths of the tensors by name, the fastest first
    /// @param weights the tensors
    /// @param file where; replaced if it exists
    /// @throws IOException if it cannot be written
    public static void write(
            Map<String, GgufValue> metadata, Map<String, List<Long>> shapes, Weights weights, Path file)
            throws IOException {
        TinyGguf gguf = new TinyGguf().putAll(metadata);
        shapes.forEach((name, shape) -> gguf.tensor(
                name, weights.format(name).ggmlType(), shape, weights.data(name).toArray(ValueLayout.JAVA_BYTE)));
        gguf.write(file);
    }

    /// Vectors, and the biases of experts and the taps of convolutions, which are matrices.
    private static boolean isSmall(Weight weight) {
        return weight.isVector()
                || weight.name().endsWith(".bias")
                || weight.name().contains("conv");
    }

    private static byte[] blocks(Weight weight, QuantFormat format, double size, Random random) {
        int n = Math.toIntExact(weight.elements());
        if (weight.isVector() && format.blockSize() == 1 && format.quantizer().isPresent()) {
            float[] values = new float[n];
            for (int i = 0; i < n; i++) {
                values[i] = (float) (0.5 + random.nextDouble()) * (weight.name().endsWith("ssm_a") ? -1 : 1);
            }
            return encoded(format, values);
        }
        return randomRows(format, n, size, random);
    }

    /// Makes normally distributed values of a size in a format, or random blocks of that size where it has
    /// no encoder.
    public static byte[] randomRows(QuantFormat format, int n, double size, Random random) {
        if (format.quantizer().isEmpty()) {
            return randomBlocks(format, n / format.blockSize(), size, random);
        }
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) (size * random.nextGaussian());
        }
        return encoded(format, values);
    }

    private static byte[] encoded(QuantFormat format, float[] values) {
        int n = values.length;
        byte[] bytes = new byte[Math.toIntExact(format.bytesFor(n))];
        format.quantizer().get().quantize(values, 0, MemorySegment.ofArray(bytes), 0, n);
        return bytes;
    }

    /// Makes random blocks that decode to finite values of about a size, without an encoder.
    ///
    /// @param format the format
    /// @param blocks number of blocks
    /// @param size the largest magnitude of each block lies between a quarter of this and four times this
    /// @param random source of randomness
    /// @return the blocks
    /// @throws IllegalArgumentException if hardly any random block decodes to such values
    public static byte[] randomBlocks(QuantFormat format, int blocks, double size, Random random) {
        byte[] all = new byte[Math.multiplyExact(blocks, format.blockBytes())];
        byte[] block = new byte[format.blockBytes()];
        float[] values = new float[format.blockSize()];
        for (int b = 0; b < blocks; b++) {
            int tries = 0;
            do {
                if (++tries > 200_000) {
                    throw new IllegalArgumentException("random blocks of " + format.id()
                            + " do not decode to values of " + size + "; give the format a quantizer to test it");
                }
                random.nextBytes(block);
                format.dequantize(MemorySegment.ofArray(block), 0, values, 0, values.length);
            } while (!fits(values, size));
            System.arraycopy(block, 0, all, b * block.length, block.length);
        }
        return all;
    }

    private static boolean fits(float[] values, double size) {
        double largest = 0;
        for (float value : values) {
            if (!Float.isFinite(value)) {
                return false;
            }
            largest = Math.max(largest, Math.abs(value));
        }
        return largest >= size / 4 && largest <= size * 4;
    }
}
