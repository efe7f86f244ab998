package dev.tenon.api.model.blocks;

import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelKeys;
import java.util.Optional;

/// What is made of an encoder's last hidden states, as `pooling_type` of the file says: one vector of a text
/// ([Graph#EMBEDDING]), or the scores of a reranker ([Graph#SCORES]).
public final class EncoderHead {
    /// `pooling_type` of files that name none: every token keeps its vector.
    private static final int NONE = 0;

    private static final int MEAN = 1;
    private static final int CLS = 2;
    private static final int LAST = 3;
    private static final int RANK = 4;
    private static final int MAX_LABELS = 1 << 16;

    private EncoderHead() {}

    /// Ends the graph of an encoder. Its default output is what the file pools to, with the tokens' own
    /// vectors ([Graph#HIDDEN]) beside it; those alone where it pools nothing.
    ///
    /// @param blocks the graph so far
    /// @param keys the file's keys
    /// @param x hidden states after the last norm, `[T, E]`
    /// @return the graph
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-002`) for a pooling that does not exist,
    ///     (`MODEL-004`) for a reranker without head
    public static Graph build(DecoderBlocks blocks, ModelKeys keys, Value x) {
        GraphBuilder g = blocks.graph();
        Value hidden = g.selectRows("selected", x);
        g.output(Graph.HIDDEN, hidden);
        return switch (keys.integerOr("pooling_type", NONE, NONE, RANK)) {
            case MEAN -> embedding(g, g.pool("pooled", x, Pooling.MEAN));
            case CLS -> embedding(g, g.pool("pooled", x, Pooling.CLS));
            case LAST -> embedding(g, hidden);
            case RANK -> g.build(scores(g, keys, g.pool("pooled", x, Pooling.CLS)));
            default -> g.build(hidden);
        };
    }

    private static Graph embedding(GraphBuilder g, Value pooled) {
        g.output(Graph.EMBEDDING, pooled);
        return g.build(pooled);
    }

    /// Adds a reranker's score of each label, which becomes the output [Graph#SCORES]: `cls.output` of the
    /// vector of a text, or of `tanh(cls)` of it where the file has `cls`.
    ///
    /// @param g the graph so far
    /// @param keys the file's keys
    /// @param pooled vectors of texts, `[L, E]`
    /// @return scores before any softmax, `[L, labels]`
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-004`) if `cls.output.weight` is missing
    public static Value scores(GraphBuilder g, ModelKeys keys, Value pooled) {
        Value x = pooled;
        if (keys.source().has("cls.weight")) {
            x = g.activate("cls_act", linear(g, keys, "cls", pooled, pooled.width()), Activation.TANH);
        }
        int labels = keys.source()
                .tensor("cls.output.weight")
                .map(TensorInfo::rows)
                .map(rows -> (int) Math.clamp(rows, 1, MAX_LABELS))
                .orElse(1);
        Value scores = linear(g, keys, "cls.output", x, labels);
        g.output(Graph.SCORES, scores);
        return scores;
    }

    private static Value linear(GraphBuilder g, ModelKeys keys, String name, Value x, int rows) {
        Optional<Weight> bias =
                keys.source().has(name + ".bias") ? Optional.of(Weight.vector(name + ".bias", rows)) : Optional.empty();
        return g.linear(name, x, new Weight(name + ".weight", x.width(), rows), bias);
    }
}
