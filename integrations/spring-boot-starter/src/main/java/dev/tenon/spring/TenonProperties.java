package dev.tenon.spring;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/// What is loaded, and how.
///
/// @param model Model that is loaded at start: a file, owner/repo:Q8_0 of the hub, ollama:qwen3:0.6b,
///     an https address, or the name of one that was downloaded before. None without it.
/// @param companion GGUF file with the encoder of pictures or sounds that belongs to the model
///     (mmproj); auto for the one beside it. Without it the model takes text alone.
/// @param backend Backend that runs it, such as cpu-vector or cuda. The best one that is there by
///     default.
/// @param contextLength Most tokens that a request and its answer have together. The model's own
///     limit by default.
/// @param requests Requests that run at once, each with room for a whole context; others wait for
///     their turn. Four by default, which share the memory of one context.
/// @param threads Threads that compute on the CPU. One for each core by default.
/// @param embeddings Whether a model that generates text makes vectors, too, and is the
///     EmbeddingModel.
/// @param settings Settings of the backend or the engine, by their names.
/// @param warmUp Whether a few tokens are generated at start, so that the first request need not
///     wait for the JVM's compilation.
/// @param embedding The model that makes vectors.
@ConfigurationProperties(TenonProperties.PREFIX)
public record TenonProperties(
        @Nullable String model,
        @Nullable String companion,
        @Nullable String backend,
        @Nullable Integer contextLength,
        @Nullable Integer requests,
        @Nullable Integer threads,
        @DefaultValue("false") boolean embeddings,
        @DefaultValue Map<String, String> settings,
        @DefaultValue("false") boolean warmUp,
        @DefaultValue Embedding embedding) {
    static final String PREFIX = "tenon";

    /// A model for vectors.
    ///
    /// @param model Encoder that is loaded at start and is the EmbeddingModel, on the same backend
    ///     and with the same threads and settings. Named as tenon.model is.
    public record Embedding(@Nullable String model) {}
}
