package dev.tenon.platform.server.models;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Graph;
import java.util.function.Function;

/// Decides which outputs a model is loaded with: text, vectors or scores.
final class Outputs {
    private Outputs() {}

    /// Loads a model with the outputs that it is made for: rerankers with scores, encoders with
    /// vectors, others with logits.
    ///
    /// @param embeddings whether one that generates shall embed, too
    /// @param with loads it with outputs
    /// @param <T> a loaded model
    /// @return the model
    /// @throws TenonException if it cannot be loaded: why a model with scores cannot be loaded with
    ///     them, else why one cannot be loaded with logits
    static <T> T load(boolean embeddings, Function<String[], T> with) {
        TenonException why;
        try {
            return with.apply(embeddings ? new String[] {Graph.LOGITS, Graph.HIDDEN} : new String[] {Graph.LOGITS});
        } catch (UnsupportedModelException e) {
            why = e;
        }
        for (String output : new String[] {Graph.SCORES, Graph.EMBEDDING}) {
            try {
                return with.apply(new String[] {output});
            } catch (TenonException e) {
                boolean absent = e.code().equals(ErrorCode.ARGUMENT); // it has no such output
                if (!absent && !(e instanceof UnsupportedModelException)) {
                    throw e;
                }
                if (!absent && output.equals(Graph.SCORES)) {
                    e.addSuppressed(why);
                    throw e;
                }
                why.addSuppressed(e);
            }
        }
        throw why;
    }
}
