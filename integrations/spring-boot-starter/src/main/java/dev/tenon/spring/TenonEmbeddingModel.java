package dev.tenon.spring;

import dev.tenon.Model;
import dev.tenon.api.graph.Graph;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.EmbeddingResponseMetadata;
import org.springframework.ai.embedding.observation.DefaultEmbeddingModelObservationConvention;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationContext;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationConvention;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationDocumentation;

/// A model in this JVM that makes vectors of length 1, for Spring AI. Safe for any thread; it blocks
/// the caller's.
public final class TenonEmbeddingModel implements EmbeddingModel {
    private static final EmbeddingModelObservationConvention CONVENTION =
            new DefaultEmbeddingModelObservationConvention();

    private final Model model;
    private final ObservationRegistry observations;
    private final @Nullable EmbeddingModelObservationConvention convention;

    /// Makes one that nobody observes.
    ///
    /// @param model an encoder, or a model that was loaded with [dev.tenon.ModelLoader#embeddings()];
    ///     stays the caller's to close
    public TenonEmbeddingModel(Model model) {
        this(model, ObservationRegistry.NOOP, null);
    }

    /// Makes one.
    ///
    /// @param model as above
    /// @param observations who observes
    /// @param convention names of observations and their tags; null for Spring AI's own
    public TenonEmbeddingModel(
            Model model, ObservationRegistry observations, @Nullable EmbeddingModelObservationConvention convention) {
        this.model = model;
        this.observations = observations;
        this.convention = convention;
    }

    /// Makes vectors. Blocks.
    ///
    /// @param request texts, each of at least one token
    /// @return a vector of [#dimensions()] elements for each, in their order
    /// @throws IllegalArgumentException if the options ask for another model or other dimensions
    /// @throws dev.tenon.api.error.TenonException as [Model#embed(List)]
    @Override
    public EmbeddingResponse call(EmbeddingRequest request) {
        EmbeddingOptions options = check(request.getOptions());
        EmbeddingModelObservationContext context = EmbeddingModelObservationContext.builder()
                .embeddingRequest(new EmbeddingRequest(request.getInstructions(), options))
                .provider(TenonChatModel.PROVIDER)
                .build();
        return Objects.requireNonNull(EmbeddingModelObservationDocumentation.EMBEDDING_MODEL_OPERATION
                .observation(convention, CONVENTION, () -> context, observations)
                .observe(() -> {
                    EmbeddingResponse response = vectors(request.getInstructions());
                    context.setResponse(response);
                    return response;
                }));
    }

    private EmbeddingResponse vectors(List<String> texts) {
        List<Embedding> vectors = new ArrayList<>();
        for (float[] vector : model.embed(texts)) {
            vectors.add(new Embedding(vector, vectors.size()));
        }
        int tokens = texts.stream().mapToInt(model::countTokens).sum();
        return new EmbeddingResponse(vectors, new EmbeddingResponseMetadata(model.name(), new DefaultUsage(tokens, 0)));
    }

    private EmbeddingOptions check(@Nullable EmbeddingOptions options) {
        if (options != null) {
            ModelNames.check(options.getModel(), model.name());
            Integer asked = options.getDimensions();
            if (asked != null && asked != dimensions()) {
                throw new IllegalArgumentException("The options ask for vectors of " + asked + " elements; those of '"
                        + model.name() + "' have " + dimensions() + ". Leave the dimensions out.");
            }
        }
        return EmbeddingOptions.builder()
                .model(model.name())
                .dimensions(dimensions())
                .build();
    }

    @Override
    public float[] embed(Document document) {
        return embed(Objects.requireNonNullElse(getEmbeddingContent(document), ""));
    }

    @Override
    public int dimensions() {
        return model.loaded()
                .outputs()
                .getOrDefault(Graph.EMBEDDING, model.loaded().config().embeddingLength());
    }
}
