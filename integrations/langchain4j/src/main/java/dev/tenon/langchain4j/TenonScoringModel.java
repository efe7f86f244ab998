package dev.tenon.langchain4j;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.model.scoring.ScoringModel;
import dev.tenon.Model;
import dev.tenon.api.engine.RerankRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A reranker: scores texts by how well they answer a query. Safe for any thread; it blocks the caller's.
public final class TenonScoringModel implements ScoringModel {
    private final Model model;

    private TenonScoringModel(Builder builder) {
        model = Objects.requireNonNull(builder.model, "model");
    }

    /// {@return a builder}
    public static Builder builder() {
        return new Builder();
    }

    /// Scores texts. Blocks.
    ///
    /// @param segments the texts
    /// @param query what is looked for
    /// @return a score for each, in their order, the higher the better
    /// @throws dev.tenon.api.error.TenonException as [dev.tenon.api.engine.LoadedModel#rerank]
    @Override
    public Response<List<Double>> scoreAll(List<TextSegment> segments, String query) {
        if (segments.isEmpty()) {
            return Response.from(List.of());
        }
        RerankRequest.Builder request = RerankRequest.builder(query);
        segments.forEach(segment -> request.document(segment.text()));
        List<Double> scores = new ArrayList<>();
        for (float score : model.loaded().rerank(request.build())) {
            scores.add((double) score);
        }
        return Response.from(scores);
    }

    /// Builds models. For one thread.
    public static final class Builder {
        private @Nullable Model model;

        private Builder() {}

        /// Sets the reranker.
        ///
        /// @param loaded the model, which stays the caller's to close
        /// @return this
        public Builder model(Model loaded) {
            model = Objects.requireNonNull(loaded, "model");
            return this;
        }

        /// {@return the model}
        public TenonScoringModel build() {
            return new TenonScoringModel(this);
        }
    }
}
