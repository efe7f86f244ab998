package dev.tenon.platform.core.control;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.graph.Graph;

/// What a model is made for, as its file says.
public enum ModelPurpose {
    /// It generates text.
    TEXT,
    /// It makes vectors of texts.
    VECTORS,
    /// It scores documents for a query.
    SCORES;

    /// Values of `pooling_type`: none, which models that generate have, and the one of rerankers. All others say how
    /// vectors are made.
    private static final int NONE = 0;

    private static final int RANK = 4;

    /// {@return what a file's model is made for}
    ///
    /// @param metadata the file's
    public static ModelPurpose of(GgufMetadata metadata) {
        String prefix = prefix(metadata);
        int pooling = metadata.integer(prefix + "pooling_type").orElse(NONE);
        if (pooling == RANK) {
            return SCORES;
        }
        boolean looksBack = metadata.bool(prefix + "attention.causal").orElse(true);
        return pooling == NONE && looksBack ? TEXT : VECTORS;
    }

    /// {@return what the scores of a file's model are of, if it says so; not to be changed}
    ///
    /// @param metadata the file's
    public static String[] labels(GgufMetadata metadata) {
        return metadata.strings(prefix(metadata) + "classifier.output_labels").orElse(new String[0]);
    }

    private static String prefix(GgufMetadata metadata) {
        return metadata.string("general.architecture").orElse("") + ".";
    }

    /// {@return the outputs that it is loaded with}
    ///
    /// @param embeddings whether a model that generates shall embed, too
    public String[] outputs(boolean embeddings) {
        return switch (this) {
            case TEXT -> embeddings ? new String[] {Graph.LOGITS, Graph.HIDDEN} : new String[] {Graph.LOGITS};
            case VECTORS -> new String[] {Graph.EMBEDDING};
            case SCORES -> new String[] {Graph.SCORES};
        };
    }
}
