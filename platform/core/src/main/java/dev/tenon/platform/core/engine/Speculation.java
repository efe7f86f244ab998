package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.platform.core.control.NamedRules;
import dev.tenon.platform.core.generation.CheckedProposer;
import dev.tenon.platform.core.generation.DraftModel;
import dev.tenon.platform.core.generation.PromptLookup;
import dev.tenon.platform.core.settings.EngineConfig;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What proposes tokens to the sessions of a model. Owns the smaller model, if there is one.
///
/// @param method off, ngram, draft, head, or the name of what a bundle offers
/// @param draft the smaller model that proposes them, or null
record Speculation(String method, LoadedModel draft) implements AutoCloseable {
    static final Speculation OFF = new Speculation("off", null);
    private static final Logger LOG = LoggerFactory.getLogger(Speculation.class);
    private static final String TOKENS = "tokenizer.ggml.tokens";

    /// Makes what the settings ask for.
    ///
    /// @param method off, ngram, draft, head, or the name of what a bundle offers
    /// @param model the model that it is for
    /// @param request the request that it was loaded with
    /// @param config the settings
    /// @param load loads the smaller model
    /// @throws TenonException (`CFG-001`) if no smaller model is named or no bundle offers what is
    ///     named, (`STATE-002`) if the smaller model has another vocabulary
    static Speculation of(
            String method,
            LoadedModel model,
            LoadRequest request,
            EngineConfig config,
            Function<LoadRequest, LoadedModel> load) {
        return switch (method) {
            case "off" -> OFF;
            case "ngram", "head" -> new Speculation(method, null);
            case "draft" -> new Speculation(method, draft(model.file(), request, config, load));
            default -> named(method, model);
        };
    }

    private static Speculation named(String method, LoadedModel model) {
        try {
            NamedRules.proposer(model, method).close();
        } catch (RuntimeException | LinkageError e) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "speculate = " + method + " does not work: " + e.getMessage()
                            + ". Besides what bundles offer there are off, ngram, draft and head",
                    e);
        }
        return new Speculation(method, null);
    }

    private static LoadedModel draft(
            GgufFile file, LoadRequest request, EngineConfig config, Function<LoadRequest, LoadedModel> load) {
        String path = config.draftModel(request.settings());
        if (path.isEmpty()) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "speculate is draft, and draft.model names no file. Name a smaller model with the vocabulary of "
                            + file.path().getFileName());
        }
        Map<String, String> settings = new HashMap<>(request.settings());
        settings.put("speculate", "off");
        LoadedModel draft = load.apply(LoadRequest.builder(Path.of(path))
                .backend(request.backend())
                .device(request.device())
                .threads(request.threads())
                .contextLength(request.contextLength())
                .maxSequences(request.maxSequences())
                .maxBatchTokens(request.maxBatchTokens())
                .settings(settings)
                .build());
        if (!Arrays.equals(tokens(draft.file()), tokens(file))) {
            draft.close();
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    Path.of(path).getFileName() + " has another vocabulary than "
                            + file.path().getFileName()
                            + ", so it cannot propose tokens to it. Name a model with the same one (draft.model).");
        }
        return draft;
    }

    private static String[] tokens(GgufFile file) {
        return file.metadata().strings(TOKENS).orElse(new String[0]);
    }

    /// {@return what proposes tokens to a new session, if something does; the caller closes it}
    ///
    /// @param model the model
    /// @param head has the model's own head propose to the session
    Optional<TokenProposer> proposer(LoadedModel model, Supplier<TokenProposer> head) {
        if (method.equals("off")) {
            return Optional.empty();
        }
        String name = draft == null
                ? "speculate = " + method
                : draft.file().path().getFileName().toString();
        try {
            TokenProposer proposer = switch (method) {
                case "draft" -> new DraftModel(draft);
                case "ngram" -> new PromptLookup();
                case "head" -> head.get();
                default -> NamedRules.proposer(model, method);
            };
            return Optional.of(
                    new CheckedProposer(proposer, name, model.config().vocabularySize()));
        } catch (RuntimeException | LinkageError e) { // its bundle may have changed since the model was loaded
            LOG.warn("{} proposes nothing to a session", name, e);
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        if (draft != null) {
            draft.close();
        }
    }
}
