package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Embeds texts: takes the vectors that the model makes of whole texts, or pools the hidden states of their
/// tokens.
final class Embedder {
    private final PlacedModel model;
    private final List<int[]> texts;
    private final List<List<PromptMedia>> media;
    private final boolean normalize;
    private final String output;
    private final Pooling pooling; // of the output's rows
    private final float[][] vectors;

    Embedder(PlacedModel model, EmbeddingRequest request) {
        this.model = model;
        this.texts = request.texts();
        this.media = request.media();
        this.normalize = request.normalize();
        this.vectors = new float[texts.size()][];
        Optional<Pooling> asked = request.pooling();
        boolean whole =
                model.outputs().containsKey(Graph.EMBEDDING) && (asked.isEmpty() || asked.get() == ownPooling(model));
        this.output = whole ? Graph.EMBEDDING : Graph.HIDDEN;
        this.pooling = whole ? Pooling.LAST : asked.orElseGet(() -> ownPooling(model));
        model.width(output);
    }

    /// The pooling that a file names; numbers as GGUF has them.
    private static Pooling ownPooling(PlacedModel model) {
        String key = model.config().architecture() + ".pooling_type";
        return switch (model.file().metadata().integer(key).orElse(3)) {
            case 1 -> Pooling.MEAN;
            case 2 -> Pooling.CLS;
            case 4 ->
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        model.file().path().getFileName()
                                + " is a reranker, which makes scores and no vectors. Use 'tenon rerank', or name a"
                                + " pooling (--pooling).");
            default -> Pooling.LAST;
        };
    }

    /// {@return the vector of each text}
    List<float[]> run() {
        new TextRunner(model, texts, (session, index, text) -> vectors[index] = embed(session, text, media.get(index)))
                .run();
        return List.of(vectors);
    }

    private float[] embed(ModelSession session, int[] text, List<PromptMedia> shown) {
        double[] sum = new double[model.width(output)];
        int only = pooling == Pooling.CLS ? 0 : text.length - 1;
        session.evaluate(text, shown, pooling == Pooling.LAST ? Rows.LAST : Rows.ALL, output, true, (index, row) -> {
            if (pooling == Pooling.MEAN || index == only) {
                Arrays.setAll(sum, i -> sum[i] + row[i]);
            }
        });
        double factor = pooling == Pooling.MEAN ? 1.0 / text.length : 1;
        if (normalize) {
            double square = Arrays.stream(sum).map(v -> v * v).sum();
            factor = square > 0 ? 1 / Math.sqrt(square) : 0;
        }
        float[] vector = new float[sum.length];
        for (int i = 0; i < vector.length; i++) {
            vector[i] = (float) (sum[i] * factor);
        }
        return vector;
    }
}
