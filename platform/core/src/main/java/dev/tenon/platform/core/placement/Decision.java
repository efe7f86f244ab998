package dev.tenon.platform.core.placement;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.Support;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.core.control.Choice;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Where and how a model runs, and why: architecture, formats, backend, device. The one place that
/// decides it: a load compiles a decision, and `--why` prints one. A decision that failed keeps the
/// failure. Owns the open device until a placement takes it; for one thread.
final class Decision implements AutoCloseable {
    /// What became of a backend.
    enum Outcome {
        /// It runs the model.
        TAKEN,
        /// A setting, or an id that several have, rules it out.
        EXCLUDED,
        /// Another one is better, or this machine lacks what it needs.
        PASSED_OVER,
        /// It could have run the model, but it cannot.
        REFUSED
    }

    /// A backend that was considered.
    ///
    /// @param backend the backend
    /// @param outcome what became of it
    /// @param reason why
    record Verdict(Backend backend, Outcome outcome, String reason) {}

    private final ServiceRegistry registry;
    private final EngineConfig config;
    private final LoadRequest request;
    private final GgufFile file;
    private final List<KernelProvider> kernels;
    private final List<Verdict> verdicts = new ArrayList<>();
    private final List<Support> supports = new ArrayList<>();
    private ModelArchitecture architecture;
    private ModelDefinition definition;
    private ModelWeights weights;
    private Backend backend;
    private Device device;
    private Map<String, String> settings;
    private Throwable failure;

    /// Decides.
    ///
    /// @param registry what is installed
    /// @param config the engine's settings, the request's over them
    /// @param request the request
    /// @param file the model
    Decision(ServiceRegistry registry, EngineConfig config, LoadRequest request, GgufFile file) {
        this.registry = registry;
        this.config = config;
        this.request = request;
        this.file = file;
        this.kernels = registry.kernelProviders();
        try {
            architecture = findArchitecture();
            definition = define();
            weights = ModelWeights.find(file, definition.graph(), registry);
            chooseBackend();
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
    List<Choice> choices() {
        return new Choices(this).all();
    }

    private ModelArchitecture findArchitecture() {
        String id = file.metadata().requiredString("general.architecture");
        return registry.architecture(id)
                .orElseThrow(() -> new UnsupportedModelException(
                        ErrorCode.MODEL_ARCHITECTURE,
                        file.path().getFileName() + " has architecture '" + id + "'; installed architectures: "
                                + list(registry.architectures(), ModelArchitecture::id)
                                + ". Install a bundle that offers it, for example by dropping its jar into deploy/."));
    }

    private ModelDefinition define() {
        Map<String, TensorInfo> tensors =
                file.tensors().stream().collect(Collectors.toMap(TensorInfo::name, Function.identity()));
        ModelDefinition defined = architecture.define(new ModelSource(file.metadata(), tensors));
        file.metadata().strings("tokenizer.ggml.tokens").ifPresent(tokens -> {
            if (tokens.length != defined.config().vocabSize()) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_TENSOR_SHAPE,
                        file.path().getFileName() + " has " + tokens.length + " tokens in its vocabulary and "
                                + defined.config().vocabSize() + " rows in token_embd.weight; expected equal"
                                + " numbers. Download the file again.");
            }
        });
        return defined;
    }

    /// Takes the first backend, by rank, that is available and supports the whole graph; or the one
    /// that is named. Those after it are not asked.
    private void chooseBackend() {
        Map<Backend, String> excluded = excluded();
        for (Backend each : registry.backends()) {
            if (excluded.containsKey(each)) {
                verdicts.add(new Verdict(each, Outcome.EXCLUDED, excluded.get(each)));
            } else if (failure != null) {
                passOver(each, "not asked, because of what is wrong with another");
            } else if (backend != null) {
                String relation = each.rank() < backend.rank() ? " is below " : " equals ";
                passOver(each, rank(each) + relation + backend.id() + "'s " + backend.rank());
            } else if (!named() && each.rank() < 0) {
                passOver(each, "used only when it is named (" + rank(each) + ")");
            } else {
                ask(each);
            }
        }
        if (failure == null && backend == null) {
            failure = unavailable();
        }
    }

    /// The backends that are not asked whatever they can do, with the reason.
    private Map<Backend, String> excluded() {
        Map<Backend, String> excluded = new IdentityHashMap<>();
        for (Backend each : registry.backends()) {
            try {
                if (named() && !each.id().equals(config.backend())) {
                    excluded.put(each, "setting backend=" + config.backend() + " names another");
                } else if (registry.backend(each.id()).filter(b -> b == each).isEmpty()) {
                    excluded.put(each, "a setting prefers another of the same id");
                }
            } catch (TenonException e) {
                excluded.put(each, e.getMessage());
                failure = e;
            }
        }
        return excluded;
    }

    private BackendException unavailable() {
        String reasons = verdicts.stream()
                .filter(verdict -> verdict.outcome() != Outcome.EXCLUDED)
                .map(verdict -> verdict.backend().id() + ": " + verdict.reason())
                .collect(Collectors.joining("; "));
        if (named() && reasons.isEmpty()) {
            return new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Backend '" + config.backend() + "' is not installed; installed backends: "
                            + list(registry.backends(), Backend::id)
                            + ". Choose one of them or auto, or install its bundle.");
        }
        return new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                (named() ? "Backend " + config.backend() + " cannot run " : "No backend can run ")
                        + file.path().getFileName() + ": " + (reasons.isEmpty() ? "none is installed" : reasons)
                        + ". See 'tenon devices'.");
    }

    private boolean named() {
        return !config.backend().equals("auto");
    }

    private static String rank(Backend backend) {
        return "rank " + backend.rank();
    }

    private void passOver(Backend each, String reason) {
        verdicts.add(new Verdict(each, Outcome.PASSED_OVER, reason));
    }

    /// Takes a backend if it can run the model. One that fails makes the decision fail: a wrong
    /// setting or device is not a reason to run elsewhere.
    private void ask(Backend each) {
        try {
            Probe probe = each.probe();
            if (!probe.available()) {
                passOver(each, "not available: " + probe.reason());
                return;
            }
            settings = config.backendSettings(each.settings(), request.settings());
            device = each.open(new DeviceOptions(config.device(), config.threads(), settings));
            String unsupported = unsupported();
            if (unsupported.isEmpty()) {
                backend = each;
                verdicts.add(new Verdict(each, Outcome.TAKEN, rank(each) + ", " + probe.reason()));
            } else {
                verdicts.add(new Verdict(each, Outcome.REFUSED, "does not support " + unsupported));
                close();
            }
        } catch (RuntimeException | LinkageError e) {
            failure = e;
            verdicts.add(new Verdict(
                    each, Outcome.REFUSED, e instanceof TenonException known ? known.getMessage() : e.toString()));
            close();
        }
    }

    private String unsupported() {
        supports.clear();
        for (Op op : definition.graph().ops()) {
            supports.add(device.compiler().supports(op, weights, kernels));
        }
        return supports.stream()
                .filter(support -> support.level() == Support.Level.NONE)
                .map(Support::reason)
                .distinct()
                .collect(Collectors.joining(", "));
    }

    private static <S> String list(List<S> services, Function<S, String> id) {
        return services.isEmpty()
                ? "none"
                : services.stream().map(id).distinct().collect(Collectors.joining(", "));
    }

    /// {@return the open device, which the caller closes from now on}
    Device takeDevice() {
        Device taken = device;
        device = null;
        return taken;
    }

    /// Closes the device, unless it was taken.
    @Override
    public void close() {
        if (device != null) {
            takeDevice().close();
        }
    }

    ServiceRegistry registry() {
        return registry;
    }

    EngineConfig config() {
        return config;
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

    /// {@return the weights, or null if some are missing or nobody decodes them}
    ModelWeights weights() {
        return weights;
    }

    /// {@return the backend, or null if none can run the model}
    Backend backend() {
        return backend;
    }

    /// {@return the open device, or null if there is no backend, or the device was taken}
    Device device() {
        return device;
    }

    /// {@return the backend's settings}
    Map<String, String> settings() {
        return settings;
    }

    List<KernelProvider> kernels() {
        return kernels;
    }

    /// {@return what became of each backend}
    List<Verdict> verdicts() {
        return verdicts;
    }

    /// {@return how the device supports each op of the graph, in its order}
    List<Support> supports() {
        return supports;
    }
}
