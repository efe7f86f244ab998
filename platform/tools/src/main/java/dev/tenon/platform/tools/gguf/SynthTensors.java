package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The tensors of a model: the weights of the graphs that its architecture builds from the metadata, that of a head
/// for further tokens among them.
final class SynthTensors {
    private static final String LAYER = "blk.*.";

    /// A tensor to be written.
    ///
    /// @param name its name
    /// @param shape its lengths, the fastest first
    record Tensor(String name, List<Long> shape) {
        long elements() {
            return shape.stream().reduce(1L, Math::multiplyExact);
        }
    }

    private SynthTensors() {}

    /// {@return the tensors of a model, those outside layers first, then layer by layer, by name}
    ///
    /// @param shape says which tensors there are that an architecture can do without
    /// @param metadata what the file says
    /// @param installed among them the architecture
    /// @throws UnsupportedModelException (`MODEL-003`) if it is not installed, or asks for other
    ///     tensors when it sees those that it asks for
    static List<Tensor> of(
            SynthShape shape, Map<String, GgufValue> metadata, Collection<? extends ModelArchitecture> installed) {
        ModelArchitecture architecture = installed.stream()
                .filter(each -> each.id().equals(shape.architecture()))
                .findFirst()
                .orElseThrow(() -> new UnsupportedModelException(
                        ErrorCode.MODEL_ARCHITECTURE,
                        "No installed bundle serves architecture " + shape.architecture() + "; installed are "
                                + installed.stream()
                                        .map(ModelArchitecture::id)
                                        .sorted()
                                        .collect(Collectors.joining(", "))
                                + ". Install one that does."));
        GgufMetadata keys = GgufMetadata.of("a model with the shape of " + shape.name(), metadata);
        Map<String, List<Long>> asked = asked(architecture, keys, optional(shape));
        if (!asked(architecture, keys, asked).equals(asked)) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_ARCHITECTURE,
                    "Architecture " + shape.architecture() + " asks for other tensors when it sees those that it asked"
                            + " for. Name those that decide it, or take another shape.");
        }
        return asked.entrySet().stream()
                .map(entry -> new Tensor(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparingInt((Tensor tensor) -> QuantMix.layer(tensor.name()))
                        .thenComparing(Tensor::name))
                .toList();
    }

    /// The tensors that say how many tokens there are, and those that an architecture can do
    /// without. It may ask how long these are: two matrices in one is what can be seen by that.
    private static Map<String, List<Long>> optional(SynthShape shape) {
        long embedding = shape.embedding();
        Map<String, List<Long>> there = new HashMap<>();
        for (String name : shape.optional()) {
            for (int layer = 0; layer < (name.startsWith(LAYER) ? shape.layers() : 1); layer++) {
                there.put(name.replace(LAYER, "blk." + layer + "."), List.of(embedding, 2L * shape.feedForward()));
            }
        }
        there.put("token_embd.weight", List.of(embedding, (long) shape.vocabulary()));
        if (!shape.tied()) {
            there.put("output.weight", List.of(embedding, (long) shape.vocabulary()));
        }
        if (shape.ropeFactors() != SynthShape.RopeFactors.NONE) {
            there.put("rope_freqs.weight", List.of(shape.headLength() / 2L));
        }
        return there;
    }

    /// {@return the weights of the graphs for a long context and for a short one, in which some
    ///     architectures use others}
    private static Map<String, List<Long>> asked(
            ModelArchitecture architecture, GgufMetadata keys, Map<String, List<Long>> shapes) {
        Map<String, TensorInfo> there = new HashMap<>();
        shapes.forEach((name, shape) -> there.put(name, new TensorInfo(name, 0, shape, 0, 0, 0)));
        Map<String, List<Long>> asked = new TreeMap<>();
        for (int context : new int[] {0, 1}) {
            ModelSource source = new ModelSource(keys, there, context);
            Stream.concat(Stream.of(architecture.define(source).graph()), architecture.head(source).stream())
                    .flatMap(graph -> graph.expanded().weights().stream())
                    .forEach(weight -> asked.put(weight.name(), lengths(weight)));
        }
        return asked;
    }

    private static List<Long> lengths(Weight weight) {
        long cols = weight.cols();
        long rows = weight.rows();
        long slices = weight.slices();
        if (slices > 1) {
            // Matrices of one element are a vector in a file.
            return cols * rows == 1 ? List.of(slices) : List.of(cols, rows, slices);
        }
        return rows > 1 ? List.of(cols, rows) : List.of(cols);
    }
}
