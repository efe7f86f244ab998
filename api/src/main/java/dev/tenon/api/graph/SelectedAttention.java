package dev.tenon.api.graph;

import java.util.List;
import java.util.stream.Stream;

/// Attention of each token to some positions only, of those that it sees: as [CoreOp.Attention], but for the others.
///
/// @param attention the attention, causal
/// @param positions `[T, count]`, of a [SelectPositions], of this layer or of one before; each row names one that the
///     token sees at least
public record SelectedAttention(CoreOp.Attention attention, Value positions) implements Op {
    /// Checks that a token sees nothing behind it.
    public SelectedAttention {
        Shapes.check(attention.params().causal(), "selected_attention", "is not causal", attention.out());
    }

    @Override
    public String kind() {
        return "selected_attention";
    }

    @Override
    public List<Value> inputs() {
        return Stream.concat(attention.inputs().stream(), Stream.of(positions)).toList();
    }

    @Override
    public List<Value> outputs() {
        return attention.outputs();
    }

    @Override
    public List<Weight> weights() {
        return attention.weights();
    }
}
