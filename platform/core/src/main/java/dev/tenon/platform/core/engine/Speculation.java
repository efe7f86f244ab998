package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.core.generation.DraftModel;
import dev.tenon.platform.core.generation.PromptLookup;
import dev.tenon.platform.core.generation.Proposer;
import dev.tenon.platform.core.settings.EngineConfig;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// What proposes tokens to the sessions of a model. Owns the smaller model, if there is one.
///
/// @param lookup whether earlier tokens do
/// @param draft the smaller model that does, or null
record Speculation(boolean lookup, LoadedModel draft) implements AutoCloseable {
    static final Speculation OFF = new Speculation(false, null);
    private static final String TOKENS = "tokenizer.ggml.tokens";

    /// Makes what the settings ask for.
    ///
    /// @param method off, ngram or draft
    /// @param file the model that it is for
    /// @param request the request that it was loaded with
    /// @param config the settings
    /// @param load loads the smaller model
    /// @throws TenonException (`CFG-001`) if no smaller model is named, (`STATE-002`) if it has another vocabulary
    static Speculation of(
            String method,
            GgufFile file,
            LoadRequest request,
            EngineConfig config,
            Function<LoadRequest, LoadedModel> load) {
        return switch (method) {
            case "ngram" -> new Speculation(true, null);
            case "draft" -> new Speculation(false, draft(file, request, config, load));
            default -> OFF;
        };
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
    Optional<Proposer> proposer() {
        if (lookup) {
            return Optional.of(new PromptLookup());
        }
        return draft == null ? Optional.empty() : Optional.of(new DraftModel(draft));
    }

    @Override
    public void close() {
        if (draft != null) {
            draft.close();
        }
    }
}
