package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.util.List;

/// Makes vectors of texts.
public final class Embeddings {
    private static final String DIMENSIONS = "dimensions";

    private Embeddings() {}

    /// Refuses a model that makes no vectors.
    ///
    /// @param model the model
    /// @throws RequestException (501) if it was loaded for something else
    public static void requireVectors(LoadedModel model) {
        if (!model.outputs().containsKey(Graph.HIDDEN) && !model.outputs().containsKey(Graph.EMBEDDING)) {
            throw RequestException.unsupported(
                    "model", "This model was loaded to generate text. Serve it with --embeddings.");
        }
    }

    /// {@return a vector of length 1 for each text, after a wait for a place in the model's queue}
    ///
    /// @param generations has the queue
    /// @param exchange whose request it is
    /// @param served the model
    /// @param model the model, loaded
    /// @param texts tokens of each text
    /// @throws InterruptedException if the client left
    public static List<float[]> of(
            Generations generations, Exchange exchange, ServedModel served, LoadedModel model, List<int[]> texts)
            throws InterruptedException {
        EmbeddingRequest.Builder request = EmbeddingRequest.builder();
        texts.forEach(request::text);
        try (Generations.Turn turn = generations.enter(exchange, served, 0)) {
            return Generations.whenFree(() -> model.embed(request.build()));
        }
    }

    /// Refuses a number of dimensions that the vectors have not.
    ///
    /// @param body the request
    /// @param vectors at least one vector
    public static void requireDimensions(Body body, List<float[]> vectors) {
        int length = vectors.getFirst().length;
        if (body.whole(DIMENSIONS, 1, Integer.MAX_VALUE, length) != length) {
            throw RequestException.invalid(DIMENSIONS, "The model's vectors have " + length + " dimensions.");
        }
    }
}
