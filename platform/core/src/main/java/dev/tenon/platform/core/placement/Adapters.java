package dev.tenon.platform.core.placement;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.platform.core.gguf.AdapterFile;
import dev.tenon.platform.core.gguf.AdapterFile.Change;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The low-rank adapters that are loaded beside a model. Owns their files. Safe for any thread.
public final class Adapters implements AutoCloseable {
    private final List<AdapterFile> files = new ArrayList<>();
    /// What the adapters change, by name of the model's tensor.
    private final Map<String, List<Part>> parts = new TreeMap<>();
    /// The adapters' tensors, by name of the weight in the graph.
    private final Map<String, Tensor> tensors = new HashMap<>();

    private record Part(int adapter, String name, Change change) {
        LowRankAdd.Part of(Weight weight) {
            int rank = change.rank();
            Weight b = new Weight(name + ":" + change.b().name(), rank, weight.tensorRows());
            return new LowRankAdd.Part(
                    adapter,
                    new Weight(name + ":" + change.a().name(), weight.cols(), rank),
                    b.rows(weight.firstRow(), weight.firstRow() + weight.rows()),
                    change.factor());
        }
    }

    private record Tensor(GgufFile file, TensorInfo info) {}

    private Adapters() {}

    /// Opens the adapters of a request.
    ///
    /// @param request names them
    /// @param types the tensor types that are known
    /// @param model the model; borrowed for the call
    /// @return the adapters; the caller closes them
    /// @throws dev.tenon.api.error.TenonException as [AdapterFile#open]
    public static Adapters open(LoadRequest request, TensorTypes types, GgufFile model) {
        Adapters adapters = new Adapters();
        try {
            for (LoadRequest.Adapter adapter : request.adapters()) {
                adapters.add(adapter.name(), AdapterFile.open(adapter.path(), types, model));
            }
            return adapters;
        } catch (RuntimeException | Error e) {
            adapters.close();
            throw e;
        }
    }

    /// {@return no adapters}
    public static Adapters none() {
        return new Adapters();
    }

    private void add(String name, AdapterFile file) {
        int adapter = files.size();
        files.add(file);
        String prefix = name + ":";
        for (Change change : file.changes()) {
            parts.computeIfAbsent(change.tensor(), _ -> new ArrayList<>()).add(new Part(adapter, name, change));
            tensors.put(prefix + change.a().name(), new Tensor(file.file(), change.a()));
            tensors.put(prefix + change.b().name(), new Tensor(file.file(), change.b()));
        }
    }

    /// Adds to each projection that an adapter changes a [LowRankAdd].
    ///
    /// @param graph the model's graph
    /// @return the graph, the same one if there is no adapter
    /// @throws UnsupportedModelException (`MODEL-010`) if an adapter changes what is no projection
    Graph applyTo(Graph graph) {
        if (parts.isEmpty()) {
            return graph;
        }
        requireProjections(graph);
        List<Op> ops = new ArrayList<>();
        int nextId = Math.max(graph.valueCount(), graph.expanded().valueCount());
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Linear linear
                    && parts.containsKey(linear.weight().name())) {
                Value out = linear.out();
                Value base = new Value(nextId++, out.name() + ".base", out.width());
                ops.add(new CoreOp.Linear(linear.x(), linear.weight(), linear.bias(), base));
                List<LowRankAdd.Part> changes = parts.get(linear.weight().name()).stream()
                        .map(part -> part.of(linear.weight()))
                        .toList();
                ops.add(new LowRankAdd(linear.x(), base, changes, out));
            } else {
                ops.add(op);
            }
        }
        return graph.withOps(ops);
    }

    private void requireProjections(Graph graph) {
        Map<String, String> readers = new HashMap<>();
        for (Op op : graph.ops()) {
            for (Weight weight : op.weights()) {
                if (op instanceof CoreOp.Linear linear && weight.equals(linear.weight())) {
                    readers.putIfAbsent(weight.name(), op.kind());
                } else {
                    readers.put(weight.name(), op.kind());
                }
            }
        }
        List<Issue> issues = new ArrayList<>();
        parts.forEach((tensor, changes) -> {
            String reader = readers.get(tensor);
            if (!"linear".equals(reader)) {
                issues.add(Issue.error(
                        ErrorCode.MODEL_TENSOR_UNUSED,
                        "adapter " + changes.getFirst().name() + " changes " + tensor + ", which "
                                + (reader == null ? "no op" : "op " + reader)
                                + " reads; only matrices of linear ops can be changed while the model runs: merge it"
                                + " (tenon quantize --lora)",
                        tensor));
            }
        });
        if (!issues.isEmpty()) {
            throw new UnsupportedModelException("The adapters do not fit the graph " + graph.name(), issues);
        }
    }

    /// {@return the description of an adapter's tensor}
    ///
    /// @param weight name of the weight in the graph
    Optional<TensorInfo> tensor(String weight) {
        return Optional.ofNullable(tensors.get(weight)).map(Tensor::info);
    }

    /// {@return the data of a weight of the graph: an adapter's or the model's}
    ///
    /// @param weight its name
    /// @param info its description
    /// @param model the model
    MemorySegment data(String weight, TensorInfo info, GgufFile model) {
        Tensor tensor = tensors.get(weight);
        return tensor == null ? model.data(info) : tensor.file().data(info);
    }

    /// {@return the adapters' files, in their order; owned by the adapters}
    public List<GgufFile> files() {
        return files.stream().map(AdapterFile::file).toList();
    }

    /// Checks that the files are what they were.
    ///
    /// @throws dev.tenon.api.error.TenonException (`GGUF-010`) if one was changed
    void requireUnchanged() {
        for (AdapterFile file : files) {
            file.file().requireUnchanged();
        }
    }

    @Override
    public void close() {
        files.forEach(AdapterFile::close);
    }
}
