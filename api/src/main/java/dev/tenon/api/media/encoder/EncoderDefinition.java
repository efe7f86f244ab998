package dev.tenon.api.media.encoder;

import dev.tenon.api.graph.Graph;
import java.util.Objects;

/// What an encoder makes of its companion file.
///
/// @param graph from [given rows][dev.tenon.api.graph.GivenRows] to the rows that the model reads: its default output,
///     `[L, width]`, one for each token whose logits are wanted
/// @param mostTokens most tokens that a step of it needs
/// @param layout says what is encoded and where it stands in the prompt
public record EncoderDefinition(Graph graph, int mostTokens, MediaLayout layout) {
    /// Checks that nothing is null.
    public EncoderDefinition {
        Objects.requireNonNull(graph, "graph");
        Objects.requireNonNull(layout, "layout");
    }

    /// {@return elements of a row that the model reads}
    public int width() {
        return graph.output().width();
    }
}
