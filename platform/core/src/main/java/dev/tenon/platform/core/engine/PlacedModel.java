package dev.tenon.platform.core.engine;

import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.check.TrialLogits;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.core.generation.Proposer;
import dev.tenon.platform.core.placement.Adapters;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.placement.Placer;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.steps.SavedSequence;
import dev.tenon.platform.core.steps.StepLimits;
import dev.tenon.platform.core.steps.StepLoop;
import dev.tenon.platform.core.tuned.TunedIdentity;
import dev.tenon.platform.core.tuned.TunedModel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A loaded model: file, adapters, placement, tokenizer, sessions. Owns the files and, through its
/// loop, the placement.
final class PlacedModel implements LoadedModel, ScheduledModel, TunedModel {
    private static final Logger LOG = LoggerFactory.getLogger(PlacedModel.class);
    private static final long RETRY_MILLIS = 20;

    private final GgufFile file;
    private final Adapters adapters;
    private final LoadRequest request;
    private final ServiceRegistry registry;
    private final Supplier<EngineConfig> settings;
    private final Consumer<PlacedModel> onClose;
    private final Placer placer;
    private final StepLoop loop;
    private final ModelConfig config;
    private final int contextLength;
    private final int maxBatchTokens;
    private final String defaultOutput;
    private final Map<String, Integer> outputs;
    private final boolean causal;
    /// How the graph rotates positions.
    private final String positions;
    private final CompletableFuture<Tokenizer> tokenizer;
    private final Set<ModelSession> sessions = ConcurrentHashMap.newKeySet();
    private final long loadNanos;
    /// Classes of services that were withdrawn while the model used them; it returns to them.
    private final Set<String> withdrawnClasses = ConcurrentHashMap.newKeySet();
    /// Not the placement itself, which would keep the classes of a removed bundle.
    private volatile Description last;
    private volatile Speculation speculation = Speculation.OFF;
    private Optional<ChatTemplate> template;
    private boolean closed;

    /// What is known of a placement after it has ended.
    private record Description(String backend, DeviceInfo device, PlanReport report, Status tuned) {
        static Description of(Placement placement) {
            return new Description(
                    placement.backend().id(),
                    placement.device().info(),
                    placement.plan().report(),
                    placement.tuned());
        }
    }

    PlacedModel(
            GgufFile file,
            Adapters adapters,
            LoadRequest request,
            ServiceRegistry registry,
            Supplier<EngineConfig> settings,
            CompletableFuture<Tokenizer> tokenizer,
            long startNanos,
            Consumer<PlacedModel> onClose) {
        this.file = file;
        this.adapters = adapters;
        this.request = request;
        this.registry = registry;
        this.settings = settings;
        this.tokenizer = tokenizer;
        this.onClose = onClose;
        EngineConfig now = settings.get();
        this.placer = new Placer(registry, file, adapters, request);
        int prefillMillis = now.prefillBudgetMillis(request.settings());
        boolean prefixCache = now.prefixCache(request.settings());
        Placement placement = placer.place(now);
        this.last = Description.of(placement);
        this.config = placement.definition().config();
        this.contextLength = placer.contextLength(placement.definition(), now);
        this.maxBatchTokens = placer.maxBatchTokens(placement.definition(), now);
        this.loop = new StepLoop(
                placement,
                this::placeAgain,
                new StepLimits(maxBatchTokens, placer.maxSequences(), prefillMillis, prefixCache));
        this.defaultOutput = placement.outputs().getFirst();
        this.positions = ModelDigest.positions(placement.definition().graph());
        this.causal = placement.definition().graph().isCausal();
        this.outputs = outputs(defaultOutput, placement.definition().graph());
        this.loadNanos = System.nanoTime() - startNanos;
    }

    StepLoop loop() {
        return loop;
    }

    /// {@return how its sequences are saved and restored}
    SavedSequence saved() {
        file.requireUnchanged();
        List<GgufFile> files = new ArrayList<>(List.of(file));
        files.addAll(adapters.files());
        return new SavedSequence(ModelDigest.of(positions, files), config.vocabularySize(), contextLength);
    }

    /// Has its sessions get proposals, unless it has states, which could not go back where one is wrong.
    ///
    /// @param load loads a smaller model
    void speculate(Function<LoadRequest, LoadedModel> load) {
        Placement placement = loop.placed().placement();
        String method = settings.get().speculation(request.settings());
        if (!method.equals("off")
                && placement != null
                && placement.plan().states().isPresent()) {
            LOG.warn("speculate = {} is left out for {}: its states cannot be cut back", method, name());
        } else {
            speculation = Speculation.of(method, file, request, settings.get(), load);
        }
    }

    /// {@return what proposes tokens to a new session, if something does; the caller closes it}
    Optional<Proposer> proposer() {
        return speculation.proposer();
    }

    @Override
    public ModelConfig config() {
        return config;
    }

    @Override
    public GgufFile file() {
        return file;
    }

    @Override
    public int contextLength() {
        return contextLength;
    }

    @Override
    public Tokenizer tokenizer() {
        try {
            return tokenizer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof TenonException cause) {
                throw cause;
            }
            throw e;
        }
    }

    @Override
    public synchronized Optional<ChatTemplate> chatTemplate() {
        if (template == null) {
            template = file.metadata().string("tokenizer.chat_template").map(this::compile);
        }
        return template;
    }

    private ChatTemplate compile(String source) {
        return registry.templateEngines().stream()
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.MODEL_TEMPLATE,
                        file.path().getFileName() + " has a chat template, and nothing installed compiles it; add"
                                + " tenon-platform-templates"))
                .compile(source);
    }

    @Override
    public String backend() {
        return last.backend();
    }

    @Override
    public DeviceInfo device() {
        return last.device();
    }

    @Override
    public PlanReport report() {
        Placement now = loop.placed().placement();
        return now == null ? last.report() : now.plan().report();
    }

    @Override
    public Optional<PlanProfiler> profiler() {
        Placement now = loop.placed().placement();
        return now == null ? Optional.empty() : now.plan().profiler();
    }

    @Override
    public Status tuned() {
        return last.tuned();
    }

    @Override
    public TunedIdentity tunedIdentity() {
        return placer.tunedIdentity(settings.get());
    }

    @Override
    public SchedulingStatus scheduling() {
        return loop.placed().scheduling();
    }

    private static Map<String, Integer> outputs(String first, Graph graph) {
        Map<String, Integer> widths = new LinkedHashMap<>();
        widths.put(first, graph.output().width());
        graph.outputs().forEach((name, value) -> widths.put(name, value.width()));
        return Collections.unmodifiableMap(widths);
    }

    @Override
    public Map<String, Integer> outputs() {
        return outputs;
    }

    /// {@return elements in a row of an output}
    ///
    /// @param output its name; null for the default one
    int width(String output) {
        Integer width = outputs.get(output == null ? defaultOutput : output);
        if (width == null) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "The model was loaded without the output " + output + "; it has "
                            + String.join(", ", outputs.keySet()) + ". Load it with LoadRequest.outputs.");
        }
        return width;
    }

    boolean isDefault(String output) {
        return output == null || output.equals(defaultOutput);
    }

    /// {@return whether a sequence may come in several steps}
    boolean isCausal() {
        return causal;
    }

    /// {@return how many sequences of a length the cache has room for}
    int sequencesOf(int length) {
        return placer.sequencesOf(length, contextLength);
    }

    @Override
    public List<float[]> embed(EmbeddingRequest embedding) {
        return new Embedder(this, embedding).run();
    }

    @Override
    public float[] rerank(RerankRequest documents) {
        return new Reranker(this, documents).run();
    }

    @Override
    public long loadNanos() {
        return loadNanos;
    }

    /// {@return the scales with which new sessions use the adapters}
    float[] initialScales() {
        return scales(request.adapters().stream()
                .collect(Collectors.toMap(LoadRequest.Adapter::name, LoadRequest.Adapter::scale)));
    }

    /// {@return the scale of each adapter, in their order}
    ///
    /// @param chosen scales by name
    float[] scales(Map<String, Float> chosen) {
        List<String> names =
                request.adapters().stream().map(LoadRequest.Adapter::name).toList();
        float[] scales = new float[names.size()];
        chosen.forEach((name, scale) -> {
            int index = names.indexOf(name);
            if (index < 0 || !Float.isFinite(scale)) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "Adapter " + name + " is asked for with scale " + scale + "; expected a finite number and one"
                                + " of the adapters that the model was loaded with: "
                                + (names.isEmpty() ? "none" : String.join(", ", names)));
            }
            scales[index] = scale;
        });
        return scales;
    }

    @Override
    public Session newSession() {
        ModelSession session = new ModelSession(this);
        loop.open(session.sequence(), placer.maxSequences());
        sessions.add(session);
        return session;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        sessions.forEach(ModelSession::cancel);
        sessions.forEach(ModelSession::close);
        loop.close();
        speculation.close();
        // The tokenizer may still be reading the metadata; that is on the heap, not in the mapping.
        adapters.close();
        file.close();
        onClose.accept(this);
    }

    void closed(ModelSession session) {
        sessions.remove(session);
        loop.close(session.sequence());
    }

    Sampler sampler(SamplingParams params) {
        return registry.samplerProviders().stream()
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.ENV_PLATFORM, "No bundle that runs samples tokens. Install the distribution again"))
                .create(params, config.vocabularySize());
    }

    /// Ends the placement if it uses the service; the next step places the model again.
    void withdraw(Object service) {
        if (loop.placed().withdraw(service)) {
            withdrawnClasses.add(service.getClass().getName());
        }
        if (service instanceof ChatTemplateEngine) {
            synchronized (this) {
                template = null;
            }
        }
    }

    /// Returns to a service that the model used before it was withdrawn.
    void returned(Object service) {
        if (withdrawnClasses.remove(service.getClass().getName())) {
            loop.placed().reconsider();
        }
    }

    /// Ends the placement if it uses a service that is no longer offered.
    void leaveWithdrawn() {
        Placement placement = loop.placed().placement();
        if (placement != null) {
            placement.services().stream().filter(s -> !registry.offers(s)).forEach(this::withdraw);
        }
    }

    /// Places the model again if it uses one of the services, which are no longer offered, and if its logits
    /// stay what they are.
    ///
    /// @param limit the largest error of the logits that passes
    /// @return how they differ, if they do
    /// @throws TenonException if it cannot be placed, or (`BUNDLE-007`) its logits differ by more; it has no
    ///     placement then
    Optional<String> replace(List<Object> services, String reason, double limit) {
        List<String> differences = new ArrayList<>();
        loop.placed()
                .replace(
                        placement -> placement != null && uses(placement, services),
                        old -> placeAlike(old, limit, differences),
                        reason);
        forgetTemplateOf(services);
        return differences.stream().findFirst();
    }

    /// Places the model again if it uses one of the services, or has no placement since one could not be made
    /// with them. So the next replacement has logits to compare with.
    ///
    /// @throws TenonException if it cannot be placed; its next step tries again
    void putBack(List<Object> services, String reason) {
        loop.placed()
                .replace(
                        placement -> placement == null || uses(placement, services),
                        old -> {
                            if (old != null) {
                                old.close();
                            }
                            return place(settings.get());
                        },
                        reason);
        forgetTemplateOf(services);
    }

    private static boolean uses(Placement placement, List<Object> services) {
        return services.stream().anyMatch(placement::uses);
    }

    private void forgetTemplateOf(List<Object> services) {
        if (services.stream().anyMatch(ChatTemplateEngine.class::isInstance)) {
            synchronized (this) {
                template = null;
            }
        }
    }

    private Placement placeAlike(Placement old, double limit, List<String> differences) {
        Optional<TrialLogits> before;
        try {
            before = Optional.of(TrialLogits.of(old, maxBatchTokens)).filter(TrialLogits::finite);
        } catch (RuntimeException | LinkageError e) {
            LOG.info("{} gives no logits to compare new ones with: {}", name(), e.toString());
            before = Optional.empty();
        } finally {
            old.close();
        }
        Placement next = place(settings.get());
        try {
            TrialLogits after = TrialLogits.of(next, maxBatchTokens);
            before.flatMap(logits -> logits.to(after)).ifPresent(difference -> {
                String text = "the logits of a short text on " + name() + " " + difference.text();
                if (!(difference.nmse() <= limit)) {
                    throw new TenonException(ErrorCode.BUNDLE_RESULTS, text);
                }
                differences.add(text);
            });
            return next;
        } catch (RuntimeException | Error e) {
            next.close();
            throw e;
        }
    }

    private String name() {
        return file.path().getFileName().toString();
    }

    /// Places the model by the settings of the moment, if they select another backend than
    /// the current one.
    void reconfigure() {
        Placement current = loop.placed().placement();
        EngineConfig now = settings.get();
        if (current == null
                || !request.backend().isEmpty()
                || current.backend().id().equals(now.backend())
                || current.backend().id().equals(placer.backend(now))) {
            return;
        }
        loop.placed().move(place(now), "the configured backend changed");
        leaveWithdrawn(); // of services withdrawn while the model was placed
    }

    /// Places the model again; its vocabulary must have the same size as before.
    private Placement place(EngineConfig now) {
        Placement next = placer.place(now);
        try {
            ModelConfig found = next.definition().config();
            if (found.vocabularySize() != config.vocabularySize()) {
                throw new UnsupportedModelException(
                        ErrorCode.MODEL_ARCHITECTURE,
                        "The new version of the architecture reads " + found.vocabularySize() + " tokens from "
                                + file.path().getFileName() + "; the version before read " + config.vocabularySize()
                                + ". Its sessions cannot continue: load the model again.");
            }
            last = Description.of(next);
            return next;
        } catch (RuntimeException | Error e) {
            next.close();
            throw e;
        }
    }

    /// Places the model when it has no placement: tries again until `move.timeout.ms` is over, since a
    /// bundle that was withdrawn may be replaced.
    private Placement placeAgain() {
        file.requireUnchanged();
        long deadline =
                System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.get().moveTimeoutMillis());
        while (true) {
            try {
                return place(settings.get());
            } catch (TenonException e) {
                if (System.nanoTime() >= deadline) {
                    throw new BackendException(
                            ErrorCode.BACKEND_WITHDRAWN,
                            "A bundle that the model was using was withdrawn, and nothing can take over: "
                                    + e.getMessage(),
                            0,
                            e);
                }
            }
            try {
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new BackendException(
                        ErrorCode.BACKEND_WITHDRAWN, "Interrupted while waiting for a replaced bundle", 0, e);
            }
        }
    }
}
