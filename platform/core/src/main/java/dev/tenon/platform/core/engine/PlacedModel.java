package dev.tenon.platform.core.engine;

import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.core.placement.Adapters;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.placement.Placer;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.steps.CheckpointLimits;
import dev.tenon.platform.core.steps.SavedSequence;
import dev.tenon.platform.core.steps.StepLimits;
import dev.tenon.platform.core.steps.StepLoop;
import dev.tenon.platform.core.tuned.TunedIdentity;
import dev.tenon.platform.core.tuned.TunedModel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A loaded model: file, adapters, placement, tokenizer, sessions. Owns the files and, through its
/// loop, the placement.
final class PlacedModel implements LoadedModel, ScheduledModel, TunedModel {
    /// How many times longer than others wait for their next tokens a step of prompts alone may take.
    private static final int ALONE = 8;

    private static final Logger LOG = LoggerFactory.getLogger(PlacedModel.class);

    private final GgufFile file;
    private final Adapters adapters;
    private final LoadRequest request;
    private final ServiceRegistry registry;
    private final Supplier<EngineConfig> settings;
    private final Consumer<PlacedModel> onClose;
    private final Placer placer;
    private final PlacementMoves moves;
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
    private volatile Speculation speculation = Speculation.OFF;
    /// By their keys.
    private final Map<String, Optional<ChatTemplate>> templates = new HashMap<>();

    private boolean closed;

    PlacedModel(
            Placer placer,
            Supplier<EngineConfig> settings,
            CompletableFuture<Tokenizer> tokenizer,
            long startNanos,
            Consumer<PlacedModel> onClose) {
        this.placer = placer;
        this.file = placer.file();
        this.adapters = placer.adapters();
        this.request = placer.request();
        this.registry = placer.registry();
        this.settings = settings;
        this.tokenizer = tokenizer;
        this.onClose = onClose;
        EngineConfig now = settings.get();
        int prefillMillis = now.prefillBudgetMillis(request.settings());
        // Where a number of sequences is asked for, others may come at any time.
        int aloneMillis = request.maxSequences() > 1 ? ALONE * prefillMillis : 0;
        boolean prefixCache = now.prefixCache(request.settings());
        Placement placement = placer.place(now);
        this.config = placement.definition().config();
        this.contextLength = placer.contextLength(placement.definition(), now);
        this.maxBatchTokens = placer.maxBatchTokens(placement.definition(), now);
        this.moves = new PlacementMoves(settings, placer, placement, maxBatchTokens, this::loop, this::forgetTemplate);
        this.loop = new StepLoop(
                placement,
                moves::placeAgain,
                new StepLimits(
                        maxBatchTokens,
                        placer.maxSequences(),
                        prefillMillis,
                        aloneMillis,
                        prefixCache,
                        new CheckpointLimits(
                                now.hostStateBytes(request.settings()),
                                now.diskStateBytes(request.settings()),
                                now.prefixFolder())));
        this.defaultOutput = placement.outputs().getFirst();
        this.positions = ModelDigest.positions(placement.definition().graph());
        this.causal = placement.definition().graph().isCausal();
        this.outputs = outputs(defaultOutput, placement.definition().graph());
        this.loadNanos = System.nanoTime() - startNanos;
    }

    StepLoop loop() {
        return loop;
    }

    /// {@return how it is placed again}
    PlacementMoves moves() {
        return moves;
    }

    /// {@return how its sequences are saved and restored}
    SavedSequence saved() {
        file.requireUnchanged();
        List<GgufFile> files = new ArrayList<>(List.of(file));
        files.addAll(adapters.files());
        return new SavedSequence(ModelDigest.of(positions, files), config.vocabularySize(), contextLength);
    }

    /// Has its sessions get proposals.
    ///
    /// @param load loads a smaller model
    void speculate(Function<LoadRequest, LoadedModel> load) {
        String method = settings.get().speculation(request.settings());
        speculation = Speculation.of(method, this, request, settings.get(), load);
    }

    /// {@return what proposes tokens to a new session, if something does; the caller closes it}
    Optional<TokenProposer> proposer() {
        return speculation.proposer(this);
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
    public Optional<ChatTemplate> chatTemplate() {
        return template(Definitions.TEMPLATE);
    }

    @Override
    public Optional<String> chatTemplateSource() {
        return templateSource(Definitions.TEMPLATE);
    }

    /// One that the architecture gives takes the place of all that the file has.
    private Optional<String> templateSource(String key) {
        GgufMetadata metadata = file.metadata();
        Optional<String> given = Definitions.givenTemplate(
                registry.architecture(config.architecture()).stream().toList(), metadata);
        return given.isPresent() && !key.equals(Definitions.TEMPLATE)
                ? Optional.empty()
                : given.or(() -> metadata.string(key));
    }

    @Override
    public Optional<ChatTemplate> chatTemplate(String name) {
        return template(Definitions.TEMPLATE + "." + name);
    }

    private synchronized Optional<ChatTemplate> template(String key) {
        Optional<ChatTemplate> known = templates.get(key);
        if (known == null) {
            known = templateSource(key).map(this::compile);
            templates.put(key, known);
        }
        return known;
    }

    /// What gave or compiled the templates may have gone.
    private synchronized void forgetTemplate() {
        templates.clear();
    }

    private ChatTemplate compile(String source) {
        return registry.templateEngine()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.MODEL_TEMPLATE,
                        file.path().getFileName() + " has a chat template, and nothing installed compiles it; add"
                                + " tenon-platform-templates"))
                .compile(source);
    }

    @Override
    public String backend() {
        return moves.last().backend();
    }

    @Override
    public DeviceInfo device() {
        return moves.last().device();
    }

    @Override
    public PlanReport report() {
        Placement now = loop.placed().placement();
        return now == null ? moves.last().report() : now.plan().report();
    }

    @Override
    public Optional<PlanProfiler> profiler() {
        Placement now = loop.placed().placement();
        return now == null ? Optional.empty() : now.plan().profiler();
    }

    @Override
    public Status tuned() {
        return moves.last().tuned();
    }

    @Override
    public TunedIdentity tunedIdentity() {
        return placer.tunedIdentity(settings.get());
    }

    @Override
    public SchedulingStatus scheduling() {
        return loop.placed().scheduling();
    }

    @Override
    public long memoryBytes() {
        return bytes(this) + (speculation.draft() == null ? 0 : bytes(speculation.draft()));
    }

    @Override
    public Optional<ChatProvider> chatProvider() {
        return registry.chatProvider();
    }

    @Override
    public <S> Optional<S> service(Class<S> type, String id) {
        return registry.service(type, id);
    }

    @Override
    public List<String> ids(Class<?> type) {
        return registry.ids(type);
    }

    @Override
    public Optional<TenonException> failure() {
        Placement now = loop.placed().placement();
        try {
            if (now == null) {
                file.requireUnchanged();
            } else {
                now.check().run();
            }
        } catch (TenonException e) {
            return Optional.of(e);
        }
        return speculation.draft() instanceof ScheduledModel draft ? draft.failure() : Optional.empty();
    }

    private static long bytes(LoadedModel model) {
        MemoryUse memory = model.report().memory();
        return memory.allocatedBytes() + memory.boundBytes();
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

    Sampler sampler(GenerationRequest generation) {
        return generation
                .sampler()
                .or(registry::samplerProvider)
                .orElseThrow(() -> new TenonException(
                        ErrorCode.ENV_PLATFORM, "No bundle that runs samples tokens. Install the distribution again"))
                .create(generation.sampling(), config.vocabularySize());
    }

    private String name() {
        return file.path().getFileName().toString();
    }
}
