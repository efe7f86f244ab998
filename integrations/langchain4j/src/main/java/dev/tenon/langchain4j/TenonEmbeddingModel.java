package dev.tenon.langchain4j;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.listener.EmbeddingModelListener;
import dev.langchain4j.model.embedding.request.EmbeddingInput;
import dev.langchain4j.model.embedding.request.EmbeddingRequest;
import dev.langchain4j.model.embedding.response.EmbeddingResponse;
import dev.langchain4j.model.embedding.response.EmbeddingResponseMetadata;
import dev.langchain4j.model.output.TokenUsage;
import dev.tenon.Model;
import dev.tenon.api.graph.Graph;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A model that makes vectors of length 1 of texts. Safe for any thread; it blocks the caller's.
public final class TenonEmbeddingModel implements EmbeddingModel {
    private final Model model;
    private final List<EmbeddingModelListener> listeners;

    private TenonEmbeddingModel(Builder builder) {
        model = Objects.requireNonNull(builder.model, "model");
        listeners = builder.listeners;
    }

    /// {@return a builder}
    public static Builder builder() {
        return new Builder();
    }

    /// Makes vectors. Blocks.
    ///
    /// @param request texts
    /// @return a vector for each, in their order
    /// @throws dev.tenon.api.error.TenonException as [Model#embed(List)]
    @Override
    public EmbeddingResponse doEmbed(EmbeddingRequest request) {
        List<String> texts = request.inputs().stream().map(EmbeddingInput::text).toList();
        List<Embedding> vectors =
                model.embed(texts).stream().map(Embedding::from).toList();
        int tokens = texts.stream().mapToInt(model::countTokens).sum();
        return EmbeddingResponse.builder()
                .embeddings(vectors)
                .metadata(EmbeddingResponseMetadata.builder()
                        .modelName(modelName())
                        .tokenUsage(new TokenUsage(tokens, 0))
                        .build())
                .build();
    }

    @Override
    public int dimension() {
        Map<String, Integer> widths = model.loaded().outputs();
        return widths.getOrDefault(Graph.EMBEDDING, model.loaded().config().embeddingLength());
    }

    @Override
    public String modelName() {
        return model.name();
    }

    @Override
    public List<EmbeddingModelListener> listeners() {
        return listeners;
    }

    /// Builds models. For one thread.
    public static final class Builder {
        private @Nullable Model model;
        private List<EmbeddingModelListener> listeners = List.of();

        private Builder() {}

        /// Sets the model that embeds: an encoder, or one that was loaded with
        /// [dev.tenon.ModelLoader#embeddings()].
        ///
        /// @param loaded the model, which stays the caller's to close
        /// @return this
        public Builder model(Model loaded) {
            model = Objects.requireNonNull(loaded, "model");
            return this;
        }

        /// Sets who hears of requests, responses and errors; nobody by default.
        ///
        /// @param all the listeners; copied
        /// @return this
        public Builder listeners(List<EmbeddingModelListener> all) {
            listeners = List.copyOf(all);
            return this;
        }

        /// {@return the model}
        public TenonEmbeddingModel build() {
            return new TenonEmbeddingModel(this);
        }
    }
}
