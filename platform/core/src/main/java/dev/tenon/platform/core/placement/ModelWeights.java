package dev.tenon.platform.core.placement;

import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// The weights of a graph, found in a file and checked: present, of the right shape, decodable.
public final class ModelWeights implements Weights {
    private record Entry(TensorInfo info, QuantFormat format, MemorySegment data) {}

    private final Map<String, Entry> entries;

    private ModelWeights(Map<String, Entry> entries) {
        this.entries = entries;
    }

    /// Finds all weights of a graph; all problems are reported together.
    ///
    /// @param file has the model's
    /// @param adapters have the others
    /// @param leftOver what is wrong with the tensors that the graph does not use
    static ModelWeights find(
            GgufFile file, Adapters adapters, Graph graph, ServiceRegistry registry, List<Issue> leftOver) {
        Map<String, Entry> entries = new HashMap<>();
        List<Issue> broken = new ArrayList<>();
        Map<Integer, List<String>> undecodable = new TreeMap<>();
        List<Issue> unsupported = new ArrayList<>();
        Set<Weight> tables = graph.ops().stream()
                .filter(CoreOp.Embedding.class::isInstance)
                .flatMap(op -> op.weights().stream())
                .collect(Collectors.toSet());
        for (Weight weight : graph.weights()) {
            Optional<TensorInfo> found = adapters.tensor(weight.name()).or(() -> file.tensor(weight.name()));
            if (found.isEmpty()) {
                broken.add(Issue.error(
                        ErrorCode.MODEL_TENSOR_MISSING, "tensor " + weight.name() + " is missing", weight.name()));
                continue;
            }
            TensorInfo info = found.get();
            if (!fits(info, weight)) {
                broken.add(Issue.error(
                        ErrorCode.MODEL_TENSOR_SHAPE,
                        "tensor " + weight.name() + " has shape " + info.shape() + "; the metadata asks for "
                                + shape(weight),
                        weight.name()));
                continue;
            }
            if (TensorTypes.isWhole(info.ggmlType()) && !tables.contains(weight)) {
                unsupported.add(Issue.error(
                        ErrorCode.MODEL_TENSOR_FORMAT,
                        "tensor " + weight.name() + " holds whole numbers (type " + info.ggmlType()
                                + "), of which no weights are made; make the file again",
                        weight.name()));
                continue;
            }
            Optional<QuantFormat> format = registry.format(info.ggmlType()).filter(known -> readsAsOpened(known, info));
            if (format.isEmpty()) {
                undecodable
                        .computeIfAbsent(info.ggmlType(), type -> new ArrayList<>())
                        .add(weight.name());
                continue;
            }
            entries.put(weight.name(), new Entry(info, format.get(), adapters.data(weight.name(), info, file)));
        }
        undecodable.forEach((type, names) -> unsupported.add(undecodable(type, names, registry.format(type))));
        unsupported.addAll(leftOver);
        if (!broken.isEmpty()) {
            broken.addAll(unsupported);
            throw new ModelFormatException(
                    broken.getFirst().code(),
                    file.path().getFileName() + " does not fit its architecture " + graph.name() + ": "
                            + broken.stream().limit(8).map(Issue::message).collect(Collectors.joining("; "))
                            + (broken.size() > 8 ? "; and " + (broken.size() - 8) + " more" : "")
                            + ". Get the file again, or correct the architecture if it is yours: 'tenon inspect'"
                            + " lists its tensors.");
        }
        if (!unsupported.isEmpty()) {
            throw new UnsupportedModelException(file.path().getFileName() + " cannot be loaded", unsupported);
        }
        return new ModelWeights(entries);
    }

    /// Whether a format has the blocks by which the file was opened; a later version of its bundle may have others.
    private static boolean readsAsOpened(QuantFormat format, TensorInfo info) {
        return info.cols() % format.blockSize() == 0 && format.bytesFor(info.elements()) == info.sizeBytes();
    }

    /// One issue for all tensors of a type that no installed format decodes.
    private static Issue undecodable(int type, List<String> tensors, Optional<QuantFormat> changed) {
        if (changed.isPresent()) {
            return Issue.error(
                    ErrorCode.MODEL_TENSOR_FORMAT,
                    "format " + changed.get().id() + " has other blocks than when the file was opened; make the file"
                            + " again, in the blocks that it has now",
                    tensors.getFirst());
        }
        String name = TensorTypes.standard()
                .find(type)
                .map(known -> " (" + known.name() + ")")
                .orElse("");
        return Issue.error(
                ErrorCode.MODEL_TENSOR_FORMAT,
                "no installed format decodes tensor type " + type + name + " of "
                        + (tensors.size() == 1 ? "" : tensors.size() + " tensors, the first being ")
                        + tensors.getFirst() + "; install a bundle that does",
                tensors.getFirst());
    }

    /// Matrices may have lengths of 1 in any place; the matrices of experts are one dimension of
    /// their own. Those of one element may be a vector; the kernels of a convolution are rows of a
    /// matrix, and a vector may be a column.
    private static boolean fits(TensorInfo info, Weight weight) {
        if (weight.slices() == 1) {
            return info.cols() == weight.cols() && info.rows() == weight.rows()
                    || weight.isVector() && info.cols() == 1 && info.rows() == weight.cols()
                    || info.shape().size() > 2
                            && info.shape().getLast() == weight.tensorRows()
                            && info.elements() == weight.tensor().elements();
        }
        boolean numbers = weight.cols() == 1 && weight.tensorRows() == 1;
        return info.shape().equals(numbers ? List.of((long) weight.slices()) : shape(weight));
    }

    private static List<Long> shape(Weight weight) {
        List<Long> matrix = List.of((long) weight.cols(), (long) weight.rows());
        return weight.slices() == 1 ? matrix : List.of(matrix.get(0), matrix.get(1), (long) weight.slices());
    }

    @Override
    public TensorInfo info(String name) {
        return entry(name).info;
    }

    @Override
    public QuantFormat format(String name) {
        return entry(name).format;
    }

    @Override
    public MemorySegment data(String name) {
        return entry(name).data;
    }

    /// The formats in use.
    public List<QuantFormat> formats() {
        return entries.values().stream().map(Entry::format).distinct().toList();
    }

    /// The names of all weights.
    public List<String> names() {
        return List.copyOf(entries.keySet());
    }

    private Entry entry(String name) {
        Entry entry = entries.get(name);
        if (entry == null) {
            throw new IllegalArgumentException("the graph has no weight " + name);
        }
        return entry;
    }
}
