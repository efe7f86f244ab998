package dev.tenon.platform.server.models;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Graph;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/// Decides which outputs a model is loaded with: text, vectors or scores.
final class Outputs {
    private Outputs() {}

    /// Loads a model with the outputs that it is made for: rerankers with scores, encoders with vectors, others with
    /// logits.
    ///
    /// @param path its file
    /// @param embeddings whether one that generates shall embed, too
    /// @param with loads it with outputs
    /// @param <T> a loaded model
    static <T> T load(Path path, boolean embeddings, Function<String[], T> with) {
        Optional<TenonException> noLogits;
        try {
            return with.apply(embeddings ? new String[] {Graph.LOGITS, Graph.HIDDEN} : new String[] {Graph.LOGITS});
        } catch (UnsupportedModelException e) {
            noLogits = Optional.of(e);
        }
        for (String output : new String[] {Graph.SCORES, Graph.EMBEDDING}) {
            try {
                return with.apply(new String[] {output});
            } catch (UnsupportedModelException e) {
                noLogits.orElseThrow().addSuppressed(e);
            }
        }
        throw noLogits.orElseThrow(() -> new TenonException(ErrorCode.MODEL_ARCHITECTURE, path + " has no output."));
    }
}
