package dev.tenon.platform.core.placement;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.platform.core.control.EncoderArchitecture;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.placement.BackendSelection.Verdict;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.tuned.TunedIdentity;
import dev.tenon.platform.core.tuned.TunedModel.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Places a model: decides where it runs ([Decision]), and compiles it there. Places the same model
/// again when bundles or settings change.
///
/// @param registry what is installed
/// @param file the model; borrowed
/// @param adapters what is loaded beside it; borrowed
/// @param request how it is to be placed
/// @param role what it is loaded as
public record Placer(ServiceRegistry registry, GgufFile file, Adapters adapters, LoadRequest request, ModelRole role) {
    private static final Logger LOG = LoggerFactory.getLogger(Placer.class);
    private static final int DEFAULT_SEQUENCES = 4;
    /// Tokens that may be taken back so that those before them need not run again, where layers have a window.
    public static final int TAKEN_BACK = 64;
    /// State slots of a sequence: its state, and a copy to return to.
    private static final int SLOTS_EACH = 2;
    /// A multiple of the tokens in a page, whatever the backend's page is.
    private static final long ROUNDING = 256;

    /// Places the model.
    ///
    /// @param config settings of the moment
    /// @return the placement, owned by the caller
    public Placement place(EngineConfig config) {
        Status tuned = Status.NONE;
        try (Decision decision = decide(config)) {
            tuned = decision.tuned();
            return compile(decision.required());
        } catch (RuntimeException | LinkageError e) {
            if (tuned.settings().isEmpty()) {
                throw e;
            }
            LOG.warn("Tuned settings are not used, since loading with them fails: {}", e.toString());
        }
        try (Decision decision =
                new Decision(registry, config.with(request), untuned(), file, adapters, role).required()) {
            return compile(decision);
        }
    }

    private LoadRequest untuned() {
        Map<String, String> settings = new HashMap<>(request.settings());
        settings.put(EngineConfig.TUNED.name(), "off");
        return request.toBuilder().settings(settings).build();
    }

    /// {@return what tuned settings of the model would be kept with}
    ///
    /// @param config settings of the moment
    public TunedIdentity tunedIdentity(EngineConfig config) {
        try (Decision decision = decide(config).required()) {
            return new Tuning(decision, decision.selection().backend()).identity();
        }
    }

    /// {@return the backend on which the model would be placed}
    ///
    /// @param config settings of the moment
    public String backend(EngineConfig config) {
        try (Decision decision = decide(config).required()) {
            return decision.selection().backend().id();
        }
    }

    /// {@return what placing the model decides, with all candidates; nothing is compiled}
    ///
    /// @param config settings of the moment
    public List<Selection> explain(EngineConfig config) {
        try (Decision decision = decide(config)) {
            List<Selection> all = new ArrayList<>(decision.selections());
            if (decision.selection() != null && decision.selection().device() != null) {
                Selection cache = cacheSize(decision)
                        .selection(decision.selection().device().compiler().getClass());
                all.addAll(cache.candidates().isEmpty() ? List.of() : List.of(cache));
            }
            return all;
        }
    }

    private Decision decide(EngineConfig config) {
        return new Decision(registry, config.with(request), request, file, adapters, role);
    }

    private Placement compile(Decision decision) {
        ModelDefinition definition = decision.definition();
        HeadPlan.check(decision);
        PlanOptions options = planOptions(decision);
        Plan plan = plan(decision, options);
        Optional<Plan> head = head(decision, options, plan);
        log(decision);
        Set<Object> services = Collections.newSetFromMap(new IdentityHashMap<>());
        services.add(decision.selection().backend());
        services.add(EncoderArchitecture.service(decision.architecture()));
        services.addAll(decision.weights().formats());
        head.ifPresent(any -> services.addAll(decision.headWeights().formats()));
        services.addAll(decision.kernels());
        // A plan that has copied its weights goes on, whatever becomes of the file.
        boolean inPlace = plan.report().memory().boundBytes() > 0;
        return new Placement(
                decision.selection().backend(),
                decision.selection().takeDevice(),
                plan,
                head,
                definition,
                EncoderArchitecture.layout(decision.architecture()),
                decision.outputs(),
                services,
                decision.selection().tuned(),
                inPlace ? this::requireUnchanged : () -> {});
    }

    private void requireUnchanged() {
        file.requireUnchanged();
        adapters.requireUnchanged();
    }

    /// Compiles. If the file changes meanwhile, that is what the failure says, whatever came of it.
    private Plan plan(Decision decision, PlanOptions options) {
        Plan plan = null;
        try {
            String source = file.path().getFileName().toString();
            DataCheck.ropeFactors(decision.definition().graph(), decision.weights(), source);
            if (request.checkData()) {
                DataCheck.run(decision.weights(), source);
            }
            plan = decision.selection()
                    .device()
                    .compiler()
                    .compile(CompileRequest.builder(decision.definition().graph(), decision.weights(), options)
                            .kernels(decision.kernels())
                            .build());
            requireUnchanged();
            return plan;
        } catch (RuntimeException | Error e) {
            if (plan != null) {
                plan.close();
            }
            requireUnchanged();
            throw e;
        }
    }

    /// Compiles the head, where it is asked for; the plan is closed if that fails.
    private static Optional<Plan> head(Decision decision, PlanOptions options, Plan plan) {
        try {
            return decision.head().map(graph -> HeadPlan.compile(decision, options, plan.kvPages()));
        } catch (RuntimeException | Error e) {
            plan.close();
            throw e;
        }
    }

    /// That a machine lacks some hardware is told; that hardware is there and cannot be used is a warning.
    private static void log(Decision decision) {
        String taken = decision.selection().backend().id();
        for (Verdict verdict : decision.selection().verdicts()) {
            switch (verdict.outcome()) {
                case TAKEN -> {
                    return; // those after it were not asked
                }
                case EXCLUDED -> {}
                case PASSED_OVER ->
                    LOG.info("Running on {}; {}: {}", taken, verdict.backend().id(), verdict.reason());
                case REFUSED ->
                    LOG.warn(
                            "Running on {} instead: {} {}. Set backend={} to avoid this message.",
                            taken,
                            verdict.backend().id(),
                            verdict.reason(),
                            taken);
            }
        }
    }

    /// The context length that a session gets.
    ///
    /// @throws TenonException (`STATE-002`) if more positions are asked for than the model has vectors for
    public int contextLength(ModelDefinition definition, EngineConfig config) {
        int own = definition.config().contextLength();
        if (role instanceof ModelRole.Encoder) {
            return own;
        }
        if (request.contextLength() > 0) {
            requirePositions(definition, request.contextLength());
            return request.contextLength();
        }
        return config.contextLength() > 0 ? Math.min(own, config.contextLength()) : own;
    }

    private void requirePositions(ModelDefinition definition, int context) {
        for (Op op : definition.graph().expanded().ops()) {
            if (op instanceof CoreOp.PositionEmbedding positions
                    && positions.table().rows() < context) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "A context of " + context + " tokens is longer than "
                                + file.path().getFileName() + " allows: it has vectors for "
                                + positions.table().rows() + " positions. Ask for at most so many (-c).");
            }
        }
    }

    /// {@return most sequences of a step}
    public int maxSequences() {
        return request.maxSequences() > 0 ? request.maxSequences() : DEFAULT_SEQUENCES;
    }

    /// {@return most tokens of a step; the whole context of an encoder, whose texts cannot be cut}
    ///
    /// @param definition what is placed
    /// @param config settings of the moment
    public int maxBatchTokens(ModelDefinition definition, EngineConfig config) {
        int tokens = Math.max(config.with(request).batchTokens(), Math.max(1, request.maxSequences()));
        return definition.graph().isCausal() ? tokens : Math.max(tokens, contextLength(definition, config));
    }

    /// {@return how many positions the cache holds: the whole context of each sequence that was asked for;
    /// sequences that nobody asked for share one}
    private long kvTokens(int context) {
        if (maxSequences() == 1) {
            return context;
        }
        // Every sequence begins a page of its own, so each needs room for whole pages.
        long whole = (context + ROUNDING - 1L) / ROUNDING * ROUNDING;
        return request.maxSequences() > 0 ? whole * maxSequences() : whole + ROUNDING * (maxSequences() - 1);
    }

    /// {@return how many sequences of a length the cache has room for, at least one}
    ///
    /// @param length their tokens, at most the context's
    /// @param context the context's length
    public int sequencesOf(int length, int context) {
        long whole = (length + ROUNDING - 1L) / ROUNDING * ROUNDING;
        return (int) Math.clamp(kvTokens(context) / Math.max(1, whole), 1, maxSequences());
    }

    /// {@return how many states of prompts are kept beside those of sequences}
    private int prefixStates(ModelDefinition definition, EngineConfig config) {
        long floats = definition.graph().opsWithState().stream()
                .mapToLong(RecurrentOp::stateFloats)
                .sum();
        return config.prefixStates(floats * Float.BYTES, request.settings());
    }

    private CacheSize cacheSize(Decision decision) {
        EngineConfig config = decision.config();
        ModelDefinition definition = decision.definition();
        return CacheSize.of(
                definition.graph().expanded(),
                config,
                request.settings(),
                kvTokens(contextLength(definition, config)),
                maxSequences(),
                maxBatchTokens(definition, config),
                decision.selection().device().compiler().keepsWindows());
    }

    private boolean batchInvariant(Decision decision) {
        boolean needed = decision.config().batchInvariant(request.settings());
        if (needed && !decision.selection().device().compiler().batchInvariant()) {
            throw new TenonException(
                    ErrorCode.BACKEND_UNSUPPORTED,
                    "batch.invariant=on, but the bits of what backend "
                            + decision.selection().backend().id()
                            + " computes of a sequence depend on what it runs beside it; set another backend, or"
                            + " batch.invariant=off");
        }
        return needed;
    }

    private PlanOptions planOptions(Decision decision) {
        EngineConfig config = decision.config();
        int context = contextLength(decision.definition(), config);
        long kvTokens = kvTokens(context);
        if (kvTokens > Integer.MAX_VALUE) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "A context of " + context + " tokens for " + maxSequences()
                            + " sequences exceeds 2147483647 positions; ask for less");
        }
        return PlanOptions.builder((int) kvTokens)
                .maxBatchTokens(maxBatchTokens(decision.definition(), config))
                .maxSequences(maxSequences())
                .windowTokens(cacheSize(decision).ownWindowTokens())
                .stateSlots(SLOTS_EACH * maxSequences() + prefixStates(decision.definition(), config))
                .keyType(config.keyType())
                .valueType(config.valueType())
                .fuse(request.fuse())
                .batchInvariant(batchInvariant(decision))
                .settings(decision.selection().settings())
                .build();
    }
}
