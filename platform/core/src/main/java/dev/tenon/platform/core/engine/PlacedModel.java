package dev.tenon.platform.core.engine;

import dev.tenon.api.chat.ChatProvider;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.core.media.CompanionEncoder;
import dev.tenon.platform.core.media.FileTensors;
import dev.tenon.platform.core.placement.Adapters;
import dev.tenon.platform.core.placement.ModelRole;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.placement.Placer;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.steps.CheckpointLimits;
import dev.tenon.platform.core.steps.KeptPrefixes;
import dev.tenon.platform.core.steps.SavedSequence;
import dev.tenon.platform.core.steps.StepLimits;
import dev.tenon.platform.core.steps.StepLoop;
import dev.tenon.platform.core.steps.TokenSequence;
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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
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
    /// Null if none are kept.
    private final KeptPrefixes kept;
    private final long loadNanos;
    private volatile Speculation speculation = Speculation.OFF;
    /// The model of its companion file, which it owns; null if it has none.
    private final PlacedModel encoder;
    /// Encodes pictures or sounds by it; null if it has none.
    private final CompanionEncoder companion;
    private final ModelTemplates templates;

    private boolean closed;

    PlacedModel(
            Placer placer,
            Supplier<EngineConfig> settings,
            CompletableFuture<Tokenizer> tokenizer,
            long startNanos,
            PlacedModel encoder,
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
        this.templates = new ModelTemplates(file, config.architecture(), registry);
        this.moves = new PlacementMoves(settings, placer, placement, maxBatchTokens, this::loop, templates::forget);
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
        this.kept = prefixCache ? takeBack(now) : null;
        this.encoder = encoder;
        this.companion = encoder == null
                ? null
                : encoder.companionOf(
                        ModelDigest.turns(placement.definition().graph()), now.encodedBytes(request.settings()));
        this.loadNanos = System.nanoTime() - startNanos;
    }

    /// {@return an encoder by this model, which is one of a companion file}
    ///
    /// @param axes whether the model that reads the rows rotates along the axes of pictures
    /// @param budget most bytes of rows that are remembered
    private CompanionEncoder companionOf(boolean axes, long budget) {
        return new CompanionEncoder(
                name(),
                loop.alone(),
                ModelDigest.of(placer.role().toString(), List.of(file)),
                new FileTensors(file, registry)::values,
                axes,
                budget);
    }

    /// {@return whether it is the encoder of another model}
    boolean isEncoder() {
        return placer.role() instanceof ModelRole.Encoder;
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
        return new SavedSequence(
                ModelDigest.of(positions, files),
                config.vocabularySize(),
                contextLength,
                rows -> PromptRows.require("The saved session", rows, rowWidth(), mostTogether()));
    }

    /// {@return what is kept when the model is closed, after what was kept was taken back; null if nothing is}
    private KeptPrefixes takeBack(EngineConfig now) {
        try {
            long bytes = now.keptPrefixBytes(request.settings());
            if (bytes == 0) {
                return null;
            }
            KeptPrefixes prefixes = new KeptPrefixes(now.prefixFolder(), bytes, saved(), initialScales().length);
            loop.placed().takeBack(prefixes);
            return prefixes;
        } catch (RuntimeException | Error e) {
            loop.close();
            throw e;
        }
    }

    private void keepPrefixes() {
        if (kept != null && failure().isEmpty()) {
            loop.placed().keep(kept);
        }
    }

    /// Has its sessions get proposals.
    ///
    /// @param load loads a smaller model
    void speculate(Function<LoadRequest, LoadedModel> load) {
        String method = settings.get().speculation(request.settings());
        speculation = Speculation.of(method, this, request, settings.get(), load);
    }

    /// {@return what proposes tokens to a new session, if something does; the caller closes it}
    ///
    /// @param sequence the session's
    Optional<TokenProposer> proposer(TokenSequence sequence) {
        return speculation.proposer(this, () -> loop.placed().headProposer(sequence));
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
        return templates.template(Definitions.TEMPLATE);
    }

    @Override
    public Optional<String> chatTemplateSource() {
        return templates.source(Definitions.TEMPLATE);
    }

    @Override
    public Optional<ChatTemplate> chatTemplate(String name) {
        return templates.template(Definitions.TEMPLATE + "." + name);
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
        Placement now = loop.placed().placement();
        Optional<Plan> head = now == null ? Optional.empty() : now.head();
        return bytes(this)
                + head.map(plan -> plan.report().memory().allocatedBytes()).orElse(0L)
                + (speculation.draft() == null ? 0 : bytes(speculation.draft()))
                + (encoder == null ? 0 : bytes(encoder));
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
        Optional<TenonException> drafts =
                speculation.draft() instanceof ScheduledModel draft ? draft.failure() : Optional.empty();
        return drafts.or(() -> encoder == null ? Optional.empty() : encoder.failure());
    }

    @Override
    public Set<MediaKind> media() {
        return companion == null ? Set.of() : companion.kinds();
    }

    @Override
    public PromptMedia encode(Picture picture) {
        return companion == null ? LoadedModel.super.encode(picture) : companion.encode(picture, tokenizer());
    }

    @Override
    public PromptMedia encode(Sound sound) {
        return companion == null ? LoadedModel.super.encode(sound) : companion.encode(sound, tokenizer());
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

    /// {@return elements of the rows that its prompts may have; 0 if they have none}
    int rowWidth() {
        return placer.role().rowWidth();
    }

    /// {@return most rows of a prompt that see each other: they run in one step, beside each other sequence}
    int mostTogether() {
        return maxBatchTokens - placer.maxSequences() + 1;
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
        return AdapterScales.initial(request);
    }

    /// {@return the scale of each adapter, in their order}
    ///
    /// @param chosen scales by name
    float[] scales(Map<String, Float> chosen) {
        return AdapterScales.of(request, chosen);
    }

    @Override
    public ModelSession newSession() {
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
        keepPrefixes();
        loop.close();
        speculation.close();
        if (encoder != null) {
            encoder.close();
        }
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
