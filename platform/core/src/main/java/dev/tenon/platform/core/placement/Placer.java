package dev.tenon.platform.core.placement;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
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
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds architecture, formats and backend for a file and compiles it there. Places the same model
/// again when bundles or settings change.
public final class Placer {
    private static final Logger LOG = LoggerFactory.getLogger(Placer.class);
    private static final int DEFAULT_SEQUENCES = 1;
    /// A multiple of the tokens in a page, whatever the backend's page is.
    private static final long ROUNDING = 256;

    private final ServiceRegistry registry;
    private final GgufFile file;
    private final LoadRequest request;

    public Placer(ServiceRegistry registry, GgufFile file, LoadRequest request) {
        this.registry = registry;
        this.file = file;
        this.request = request;
    }

    /// Places the model.
    ///
    /// @param config settings of the moment
    /// @return the placement, owned by the caller
    public Placement place(EngineConfig config) {
        ModelArchitecture architecture = architecture();
        ModelDefinition definition = define(architecture);
        ModelWeights weights = ModelWeights.find(file, definition.graph(), registry);
        if (request.checkData()) {
            DataCheck.run(weights, file.path().getFileName().toString());
        }
        List<String> refusals = new ArrayList<>();
        List<String> absent = new ArrayList<>();
        for (Backend backend : candidates(config)) {
            if (wanted(config).equals("auto") && backend.rank() < 0) {
                absent.add(backend.id() + ": used only when it is named");
                continue;
            }
            Probe probe = backend.probe();
            if (!probe.available()) {
                absent.add(backend.id() + ": " + probe.reason());
                continue;
            }
            Placement placement = tryBackend(backend, config, architecture, definition, weights, refusals);
            if (placement != null) {
                // That a machine lacks some hardware is no surprise; that hardware is there and cannot be used is one.
                absent.forEach(r -> LOG.info("Running on {}; not available here: {}", backend.id(), r));
                refusals.forEach(r -> LOG.warn(
                        "Running on {} instead: {}. Set backend={} to avoid this message.",
                        backend.id(),
                        r,
                        backend.id()));
                return placement;
            }
        }
        String wanted = wanted(config);
        refusals.addAll(0, absent);
        throw new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                (wanted.equals("auto") ? "No backend can run " : "Backend " + wanted + " cannot run ")
                        + file.path().getFileName() + ": "
                        + (refusals.isEmpty() ? "none is installed" : String.join("; ", refusals))
                        + ". See 'tenon devices'.");
    }

    /// The context length that a session gets.
    public int contextLength(ModelDefinition definition, EngineConfig config) {
        int own = definition.config().contextLength();
        if (request.contextLength() > 0) {
            return request.contextLength();
        }
        return config.contextLength() > 0 ? Math.min(own, config.contextLength()) : own;
    }

    public int maxSequences() {
        return request.maxSequences() > 0 ? request.maxSequences() : DEFAULT_SEQUENCES;
    }

    private ModelArchitecture architecture() {
        String id = file.metadata().requiredString("general.architecture");
        return registry.architecture(id)
                .orElseThrow(() -> new UnsupportedModelException(
                        ErrorCode.MODEL_ARCHITECTURE,
                        file.path().getFileName() + " has architecture '" + id + "'; installed architectures: "
                                + list(registry.architectures(), ModelArchitecture::id)
                                + ". Install a bundle that offers it, for example by dropping its jar into deploy/."));
    }

    private ModelDefinition define(ModelArchitecture architecture) {
        Map<String, TensorInfo> tensors =
                file.tensors().stream().collect(Collectors.toMap(TensorInfo::name, Function.identity()));
        ModelDefinition definition = architecture.define(new ModelSource(file.metadata(), tensors));
        file.metadata().strings("tokenizer.ggml.tokens").ifPresent(tokens -> {
            if (tokens.length != definition.config().vocabSize()) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_TENSOR_SHAPE,
                        file.path().getFileName() + " has " + tokens.length + " tokens in its vocabulary and "
                                + definition.config().vocabSize() + " rows in token_embd.weight; expected equal"
                                + " numbers. Get the file anew.");
            }
        });
        return definition;
    }

    private String wanted(EngineConfig config) {
        return request.backend().isEmpty() ? config.backend() : request.backend();
    }

    private List<Backend> candidates(EngineConfig config) {
        String wanted = wanted(config);
        if (wanted.equals("auto")) {
            return registry.backends().stream()
                    .map(b -> registry.backend(b.id()).orElse(b))
                    .distinct()
                    .toList();
        }
        return List.of(registry.backend(wanted)
                .orElseThrow(() -> new BackendException(
                        ErrorCode.BACKEND_UNAVAILABLE,
                        "Backend '" + wanted + "' is not installed; installed backends: "
                                + list(registry.backends(), Backend::id)
                                + ". Choose one of them or auto, or install its bundle.")));
    }

    private static <S> String list(List<S> services, Function<S, String> id) {
        return services.isEmpty()
                ? "none"
                : services.stream().map(id).distinct().collect(Collectors.joining(", "));
    }

    private Placement tryBackend(
            Backend backend,
            EngineConfig config,
            ModelArchitecture architecture,
            ModelDefinition definition,
            ModelWeights weights,
            List<String> refusals) {
        List<KernelProvider> kernels = registry.kernelProviders();
        String deviceId = request.device().isEmpty() ? config.device() : request.device();
        int threads = request.threads() > 0 ? request.threads() : config.threads();
        Map<String, String> settings = config.backendSettings(backend.settings(), request.settings());
        Device device = backend.open(new DeviceOptions(deviceId, threads, settings));
        try {
            List<String> unsupported = unsupported(device.compiler(), definition, weights, kernels);
            if (!unsupported.isEmpty()) {
                refusals.add(backend.id() + " does not support " + String.join(", ", unsupported));
                device.close();
                return null;
            }
            Plan plan = device.compiler()
                    .compile(new CompileRequest(
                            definition.graph(), weights, planOptions(definition, config, settings), kernels));
            Set<Object> services = Collections.newSetFromMap(new IdentityHashMap<>());
            services.add(backend);
            services.add(architecture);
            services.addAll(weights.formats());
            services.addAll(kernels);
            return new Placement(backend, device, plan, definition, services);
        } catch (RuntimeException | Error e) {
            device.close();
            throw e;
        }
    }

    private static List<String> unsupported(
            Compiler compiler, ModelDefinition definition, ModelWeights weights, List<KernelProvider> kernels) {
        List<String> reasons = new ArrayList<>();
        for (Op op : definition.graph().ops()) {
            Support support = compiler.supports(op, weights, kernels);
            if (support.level() == Support.Level.NONE && !reasons.contains(support.reason())) {
                reasons.add(support.reason());
            }
        }
        return reasons;
    }

    private PlanOptions planOptions(ModelDefinition definition, EngineConfig config, Map<String, String> settings) {
        int context = contextLength(definition, config);
        // Every sequence begins a page of its own, so each needs room for whole pages.
        long kvTokens =
                maxSequences() == 1 ? context : (context + ROUNDING - 1L) / ROUNDING * ROUNDING * maxSequences();
        if (kvTokens > Integer.MAX_VALUE) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "A context of " + context + " tokens for " + maxSequences()
                            + " sequences exceeds 2147483647 positions; ask for less");
        }
        int batch = request.maxBatchTokens() > 0 ? request.maxBatchTokens() : config.batchTokens();
        return new PlanOptions(
                Math.max(batch, maxSequences()),
                maxSequences(),
                (int) kvTokens,
                request.keyType() != null ? request.keyType() : config.keyType(),
                request.valueType() != null ? request.valueType() : config.valueType(),
                request.fuse(),
                settings);
    }
}
