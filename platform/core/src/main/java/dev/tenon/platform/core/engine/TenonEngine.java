package dev.tenon.platform.core.engine;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.api.metrics.MetricsSource;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.control.EndpointSource;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.core.placement.Adapters;
import dev.tenon.platform.core.placement.ModelRole;
import dev.tenon.platform.core.placement.Placer;
import dev.tenon.platform.core.registry.Notifier;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.DeclaredSettings;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.settings.SettingsTeller;
import dev.tenon.platform.core.text.Tokenizers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The engine over a [ServiceRegistry].
public class TenonEngine implements Engine, EndpointSource, ModelRegistries {
    private static final Logger LOG = LoggerFactory.getLogger(TenonEngine.class);

    /// Error of logits that the same kernels compute, in another order at most.
    private static final double ROUNDING = 1e-4;
    /// Error of logits that other kernels compute: they may round activations to 8 bits.
    private static final double ROUNDING_OF_KERNELS = 5e-3;
    /// A base of rotation that encoders do not look at.
    private static final float NO_ROTATION = 10_000;

    private final ServiceRegistry registry;
    private final List<PlacedModel> models = new CopyOnWriteArrayList<>();
    private final Notifier<BundleChangeListener> bundleListeners;
    private final Notifier<MetricsExporter> exporters;
    private final SettingsTeller settings;
    private volatile EngineConfig config;
    private volatile boolean closed;

    /// Creates an engine.
    ///
    /// @param registry what is installed; watched for removals
    /// @param config settings
    public TenonEngine(ServiceRegistry registry, EngineConfig config) {
        this.registry = registry;
        bundleListeners = new Notifier<>(registry, BundleChangeListener.class);
        exporters = new Notifier<>(registry, MetricsExporter.class);
        settings = new SettingsTeller(registry, () -> this.config);
        configure(config);
        registry.onRemoval(service -> models.forEach(model -> model.moves().withdraw(service)));
        registry.onAddition(service -> models.forEach(model -> model.moves().returned(service)));
    }

    /// Takes new settings; models whose backend comes from the settings move when it changed.
    ///
    /// @param next the settings
    public void configure(EngineConfig next) {
        EngineConfig previous = config;
        config = next;
        registry.prefer(next.preferences());
        settings.tell(registry.all(BundleSettings.class));
        if (previous != null && previous.backend().equals(next.backend())) {
            return;
        }
        for (PlacedModel model : models) {
            try {
                model.moves().reconfigure();
            } catch (TenonException e) {
                LOG.warn("{} stays on {}: {}", model.file().path().getFileName(), model.backend(), e.getMessage());
            }
        }
    }

    /// Tells the listeners of bundles what was done, later and on a thread of their own.
    ///
    /// @param change what was done, or refused
    public void tell(BundleChange change) {
        bundleListeners.tell(listener -> listener.changed(change));
    }

    @Override
    public List<EndpointSource.Offered> endpoints() {
        return registry.endpoints();
    }

    @Override
    public void onServiceRemoval(Consumer<Object> listener) {
        registry.onRemoval(listener);
    }

    @Override
    public void offServiceRemoval(Consumer<Object> listener) {
        registry.offRemoval(listener);
    }

    @Override
    public void tell(FinishedRequest request, MetricsSource metrics) {
        exporters.tell(exporter -> exporter.finished(request, metrics));
    }

    @Override
    public long untold() {
        return exporters.dropped();
    }

    @Override
    public Optional<ModelRegistry> registry(String id) {
        return registry.service(ModelRegistry.class, id);
    }

    @Override
    public List<String> registries() {
        return registry.ids(ModelRegistry.class);
    }

    @Override
    public LoadedModel load(LoadRequest request) {
        if (closed) {
            throw closedError();
        }
        long start = System.nanoTime();
        config.checked();
        DeclaredSettings.check(request.settings(), registry);
        findKernels();
        TensorTypes types = TensorTypes.of(registry.formats());
        GgufFile file = GgufReader.open(request.path(), types);
        Adapters adapters = null;
        PlacedModel encoder = null;
        try {
            adapters = Adapters.open(request, types, file);
            encoder = request.companion().isEmpty() ? null : encoder(request, types, file);
            CompletableFuture<Tokenizer> tokenizer = CompletableFuture.supplyAsync(
                    () -> Tokenizers.create(file.metadata(), registry.tokenizerProviders()));
            int rowWidth = encoder == null ? 0 : encoder.width(null);
            PlacedModel model = new PlacedModel(
                    new Placer(registry, file, adapters, config.withSpeculation(request), new ModelRole.Text(rowWidth)),
                    () -> config,
                    tokenizer,
                    start,
                    encoder,
                    models::remove);
            try {
                if (file.metadata().has("tokenizer.ggml.model")) {
                    model.tokenizer();
                }
                model.speculate(this::load);
            } catch (TenonException | CompletionException e) {
                model.close();
                throw e;
            }
            models.add(model);
            if (closed) {
                model.close();
                throw closedError();
            }
            model.moves().leaveWithdrawn(); // of services withdrawn while the model was placed
            logUnreadKeys(file);
            return model;
        } catch (RuntimeException e) {
            if (encoder != null) {
                encoder.close();
            }
            if (adapters != null) {
                adapters.close();
            }
            file.close();
            throw e;
        }
    }

    private void logUnreadKeys(GgufFile file) {
        if (LOG.isDebugEnabled()) {
            registry.architecture(file.metadata().requiredString("general.architecture"))
                    .map(architecture -> Definitions.unreadKeys(architecture, file))
                    .filter(unread -> !unread.isEmpty())
                    .ifPresent(unread -> LOG.debug(
                            "{}: keys that this version does not read: {}",
                            file.path().getFileName(),
                            unread));
        }
    }

    /// Places the encoder of a model's companion file: on the backend that the request names, or else on any.
    private PlacedModel encoder(LoadRequest request, TensorTypes types, GgufFile text) {
        GgufFile file = GgufReader.open(request.companion().orElseThrow(), types);
        try {
            ModelConfig read = ModelConfig.readShape(Definitions.source(text, 0, 0), NO_ROTATION);
            ModelRole role = new ModelRole.Encoder(read, config.pictures(request.settings()));
            LoadRequest asked = EncoderRequest.of(request);
            PlacedModel encoder;
            try {
                encoder = encoder(file, asked, role);
            } catch (TenonException e) {
                if (asked.backend().isEmpty() || asked.backend().equals("auto")) {
                    throw e;
                }
                LOG.info("{} does not run {}: {}", asked.backend(), file.path().getFileName(), e.getMessage());
                encoder = encoder(
                        file, asked.toBuilder().backend("auto").device("").build(), role);
            }
            models.add(encoder);
            return encoder;
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    private PlacedModel encoder(GgufFile file, LoadRequest asked, ModelRole role) {
        Placer placer = new Placer(registry, file, Adapters.none(), asked, role);
        return new PlacedModel(
                placer, () -> config, new CompletableFuture<>(), System.nanoTime(), null, models::remove);
    }

    /// Offers the services of some bundles instead of others'. Models that use the old ones are
    /// placed again on the new ones; their sessions wait meanwhile and go on. If one model cannot be
    /// placed, the old services take their place again and all models return to them.
    ///
    /// @param old numbers of the bundles that are replaced
    /// @param next numbers of bundles that are held
    /// @param reason what sessions are told
    /// @param acceptChangedResults whether the logits of a model may become others
    /// @return how the logits of models differ, a line for each model whose logits do
    /// @throws TenonException why a model could not be placed, or that its logits became others
    ///     (`BUNDLE-007`); then everything is as before
    public List<String> replace(Set<Long> old, Set<Long> next, String reason, boolean acceptChangedResults) {
        List<Object> leaving = registry.servicesOf(old);
        List<Object> arriving = registry.servicesOf(next);
        double limit = acceptChangedResults
                ? Double.POSITIVE_INFINITY
                : changesKernels(leaving) || changesKernels(arriving) ? ROUNDING_OF_KERNELS : ROUNDING;
        List<String> differences = new ArrayList<>();
        registry.swap(old, next);
        try {
            for (PlacedModel model : models) {
                model.moves().replace(leaving, reason, limit).ifPresent(differences::add);
            }
            settings.tell(arriving);
            return differences;
        } catch (RuntimeException | Error e) {
            registry.swap(next, old);
            for (PlacedModel model : models) {
                try {
                    model.moves().putBack(arriving, "put back, because the replacement failed");
                } catch (RuntimeException | Error again) {
                    // The next step of the model tries again and reports the failure.
                    e.addSuppressed(again);
                }
            }
            throw e instanceof TenonException known
                    ? known
                    : new BackendException(
                            ErrorCode.BACKEND_FAILED, "A model could not be placed on the new bundle: " + e, 0, e);
        }
    }

    private static boolean changesKernels(List<Object> services) {
        return services.stream().anyMatch(s -> s instanceof Backend || s instanceof KernelProvider);
    }

    /// Explains where a model would run now, and why.
    ///
    /// @param request the model, and how it is to be placed; without its companion
    /// @return the selections in the order in which they are made
    /// @throws TenonException if the file cannot be read
    public List<Selection> explain(LoadRequest request) {
        config.checked();
        DeclaredSettings.check(request.settings(), registry);
        TensorTypes types = TensorTypes.of(registry.formats());
        try (GgufFile file = GgufReader.open(request.path(), types);
                Adapters adapters = Adapters.open(request, types, file)) {
            return new Placer(registry, file, adapters, request, new ModelRole.Text(0)).explain(config);
        }
    }

    /// Lists the declared settings with their values.
    ///
    /// @param given values by name that go over all others
    /// @return the values
    /// @throws TenonException (`CFG-001`) if `given` names a setting that nobody declares
    public List<SettingValue> settings(Map<String, String> given) {
        return DeclaredSettings.values(registry, config, given);
    }

    /// Has the kernel providers detect what the processor can do while the file is being read. They
    /// keep the result.
    private void findKernels() {
        Thread.ofPlatform().name("tenon-kernels").daemon(true).start(() -> {
            try {
                registry.kernelProviders().forEach(KernelProvider::kernels);
            } catch (RuntimeException | Error e) {
                // The placement asks them again and reports the failure.
                LOG.debug("A kernel provider failed", e);
            }
        });
    }

    @Override
    public List<LoadedModel> models() {
        return models.stream()
                .filter(model -> !model.isEncoder())
                .map(LoadedModel.class::cast)
                .toList();
    }

    @Override
    public List<Backend> backends() {
        return registry.backends();
    }

    @Override
    public List<ModelArchitecture> architectures() {
        return registry.architectures();
    }

    @Override
    public List<QuantFormat> formats() {
        return registry.formats();
    }

    @Override
    public List<KernelProvider> kernelProviders() {
        return registry.kernelProviders();
    }

    private static TenonException closedError() {
        return new TenonException(ErrorCode.CLOSED, "The engine was closed; create another one");
    }

    @Override
    public void close() {
        closed = true;
        models.forEach(PlacedModel::close);
        bundleListeners.close();
        exporters.close();
    }
}
