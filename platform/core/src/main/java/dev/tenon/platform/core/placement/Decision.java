package dev.tenon.platform.core.placement;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.control.EncoderArchitecture;
import dev.tenon.platform.core.control.Origins;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.tuned.TunedModel.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Where and how a model runs, and why: architecture, formats, backend, device. The one place that
/// decides it: a load compiles a decision, and `--why` prints one. A decision that failed keeps the
/// failure. For one thread.
final class Decision implements AutoCloseable {
    /// How many tensors a message names.
    private static final int SHOWN = 4;

    private final ServiceRegistry registry;
    private final EngineConfig config;
    private final LoadRequest request;
    private final GgufFile file;
    private final Adapters adapters;
    private final ModelRole role;
    private final List<KernelProvider> kernels;
    private final List<Issue> leftOver = new ArrayList<>();
    private ModelArchitecture architecture;
    private ModelDefinition definition;
    private List<String> outputs;
    private ModelWeights weights;
    private Optional<Graph> head = Optional.empty();
    private ModelWeights headWeights;
    private BackendSelection selection;
    private Throwable failure;

    /// Decides.
    ///
    /// @param registry what is installed
    /// @param config the engine's settings, the request's over them
    /// @param request the request
    /// @param file the model
    /// @param adapters what is loaded beside it
    /// @param role what it is loaded as
    Decision(
            ServiceRegistry registry,
            EngineConfig config,
            LoadRequest request,
            GgufFile file,
            Adapters adapters,
            ModelRole role) {
        this.registry = registry;
        this.config = config;
        this.request = request;
        this.file = file;
        this.adapters = adapters;
        this.role = role;
        this.kernels = registry.kernelProviders();
        try {
            architecture = role.architecture(registry, file);
            definition = define();
            weights = ModelWeights.find(file, adapters, definition.graph(), registry, leftOver);
            if (head.isPresent()) {
                headWeights = ModelWeights.find(file, adapters, head.get(), registry, List.of());
            }
            selection = BackendSelection.of(this);
            failure = selection.failure();
        } catch (RuntimeException | LinkageError e) {
            failure = e;
        }
    }

    /// {@return this decision, if it is one to run the model}
    ///
    /// @throws TenonException why the model cannot run
    Decision required() {
        return switch (failure) {
            case null -> this;
            case RuntimeException e -> throw e;
            case Throwable e -> throw (LinkageError) e;
        };
    }

    /// {@return what was decided, with all candidates}
    List<Selection> selections() {
        return new Explanation(this).selections();
    }

    private ModelDefinition define() {
        ModelSource source = Definitions.source(file, contextLength(), role.rowWidth());
        ModelDefinition defined =
                Definitions.of(architecture, source, file.path().getFileName().toString());
        file.metadata().strings("tokenizer.ggml.tokens").ifPresent(tokens -> {
            if (tokens.length != defined.config().vocabularySize()) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_TENSOR_SHAPE,
                        file.path().getFileName() + " has " + tokens.length + " tokens in its vocabulary and "
                                + defined.config().vocabularySize() + " rows in token_embd.weight; expected equal"
                                + " numbers. Download the file again.");
            }
        });
        MatrixScales scales = new MatrixScales(file, defined.graph());
        findLeftOver(source, defined.graph(), scales);
        boolean generates = request.outputs().getFirst().equals(Graph.LOGITS);
        if (generates && config.speculation(request.settings()).equals("head")) {
            String name = file.path().getFileName().toString();
            head = Optional.of(HeadPlan.required(defined.graph(), Definitions.head(architecture, source, name), name));
        }
        // An adapter adds to what a matrix gives after it was multiplied.
        Graph graph = scales.applyTo(adapters.applyTo(defined.graph()));
        return withOutputs(new ModelDefinition(defined.config(), graph));
    }

    /// {@return how long sequences may become, 0 for as long as the file says}
    private int contextLength() {
        if (request.contextLength() > 0 || config.contextLength() == 0) {
            return request.contextLength();
        }
        GgufMetadata keys = file.metadata();
        String key = keys.requiredString("general.architecture") + ".context_length";
        return keys.has(key)
                ? Math.min(config.contextLength(), keys.requiredInteger(key, 1, Integer.MAX_VALUE))
                : config.contextLength();
    }

    /// Finds the tensors without which the whole graph, with all its outputs, would be computed: most likely
    /// the architecture does not implement what they are for.
    private void findLeftOver(ModelSource source, Graph graph, MatrixScales scales) {
        Set<String> used = new HashSet<>();
        for (Weight weight : graph.weights()) {
            used.add(weight.name());
        }
        List<String> unused = new ArrayList<>();
        for (TensorInfo tensor : file.tensors()) {
            boolean needed = used.contains(tensor.name()) || scales.uses(tensor.name());
            if (!needed && !architecture.ignores(source, tensor.name())) {
                unused.add(tensor.name());
            }
        }
        if (unused.isEmpty() || config.allowsUnusedTensors(request.settings())) {
            return;
        }
        int shown = Math.min(unused.size(), SHOWN);
        String more = unused.size() > shown ? " and " + (unused.size() - shown) + " more" : "";
        leftOver.add(Issue.error(
                ErrorCode.MODEL_TENSOR_UNUSED,
                (unused.size() == 1 ? "a tensor is" : unused.size() + " tensors are") + " not used by "
                        + architecture.id() + " (" + Origins.of(EncoderArchitecture.service(architecture))
                        + "): " + String.join(", ", unused.subList(0, shown)) + more
                        + ". The logits would be wrong: install a bundle that uses them, or load it with"
                        + " unused.tensors=allow",
                unused.getFirst()));
    }

    /// Keeps the outputs that the request asks for; an embedding is made of hidden states where the model makes
    /// none.
    private ModelDefinition withOutputs(ModelDefinition defined) {
        Set<String> own = defined.graph().outputs().keySet();
        boolean pooled = !own.contains(Graph.EMBEDDING) && own.contains(Graph.HIDDEN);
        outputs = Stream.concat(request.outputs().stream(), head.map(graph -> Graph.HIDDEN_ROWS).stream())
                .map(name -> pooled && name.equals(Graph.EMBEDDING) ? Graph.HIDDEN : name)
                .distinct()
                .toList();
        try {
            return new ModelDefinition(defined.config(), defined.graph().withOutputs(outputs));
        } catch (IllegalArgumentException e) {
            boolean scores = outputs.contains(Graph.SCORES) && !own.contains(Graph.SCORES);
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    file.path().getFileName()
                            + (scores ? " is no reranker: " : " cannot be loaded: ")
                            + e.getMessage());
        }
    }

    static <S> String list(List<S> services, Function<S, String> id) {
        return services.isEmpty()
                ? "none"
                : services.stream().map(id).distinct().collect(Collectors.joining(", "));
    }

    /// Closes the open device, unless it was taken.
    @Override
    public void close() {
        if (selection != null) {
            selection.close();
        }
    }

    ServiceRegistry registry() {
        return registry;
    }

    EngineConfig config() {
        return config;
    }

    LoadRequest request() {
        return request;
    }

    GgufFile file() {
        return file;
    }

    /// {@return why the model cannot run, or null}
    Throwable failure() {
        return failure;
    }

    /// {@return the architecture, or null if none reads the file}
    ModelArchitecture architecture() {
        return architecture;
    }

    /// {@return what the architecture made of the file, or null if it refused it}
    ModelDefinition definition() {
        return definition;
    }

    /// {@return names of the outputs of the definition's graph, the default one first}
    List<String> outputs() {
        return outputs;
    }

    /// {@return the weights, or null if some are missing or nobody decodes them}
    ModelWeights weights() {
        return weights;
    }

    /// {@return the head for further tokens, where it is asked for}
    Optional<Graph> head() {
        return head;
    }

    /// {@return its weights, or null if it is not asked for}
    ModelWeights headWeights() {
        return headWeights;
    }

    /// {@return the tuned settings that it runs with, or would}
    Status tuned() {
        return selection == null ? Status.NONE : selection.tuned();
    }

    List<KernelProvider> kernels() {
        return kernels;
    }

    /// {@return the selection of the backend, or null if there is nothing for it to run}
    BackendSelection selection() {
        return selection;
    }
}
