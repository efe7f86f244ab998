package dev.tenon.kernels.nvidia.step;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GivenRows;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.ReplaceRows;
import dev.tenon.api.graph.RopeParams;

/// What a graph reads of what comes with tokens, beside their ids and positions: a picture's tokens have rows, places
/// along axes, and see each other.
///
/// @param width elements of a row; 0 if rows are not read
/// @param axes axes along which places are read; 0 if none are
/// @param spans whether spans are read
public record GivenInput(int width, int axes, boolean spans) {
    /// For a graph that reads nothing of it.
    public static final GivenInput NOTHING = new GivenInput(0, 0, false);

    /// Of a step: some tokens come with rows.
    public static final int ROWS = 1;

    /// Of a step: some tokens stand elsewhere than those of a text.
    public static final int PLACES = 2;

    /// Of a step: some tokens have a span.
    public static final int SPANS = 4;

    /// Axes along which a token stands at its position unless the step says where, as
    /// [dev.tenon.api.device.StepInput#place] has it.
    public static final int TEXT_AXES = 3;

    /// {@return what a graph reads}
    ///
    /// @param graph of core ops and fused ops
    public static GivenInput of(Graph graph) {
        Graph plain = graph.expanded();
        int width = 0;
        int axes = 0;
        for (var op : plain.ops()) {
            switch (op) {
                case GivenRows given -> width = Math.max(width, given.out().width());
                case ReplaceRows replace ->
                    width = Math.max(width, replace.out().width());
                case CoreOp.Rope rope -> axes = Math.max(axes, axes(rope.params()));
                default -> {}
            }
        }
        boolean spans =
                plain.attentionLayers().stream().map(CoreOp.Attention::params).anyMatch(AttentionParams::spans);
        return new GivenInput(width, axes, spans);
    }

    private static int axes(RopeParams params) {
        return params.turns().stream().mapToInt(turn -> turn.axis() + 1).max().orElse(0);
    }

    /// {@return all that the graph reads, as [StepShape#given] has it}
    public int all() {
        return (width > 0 ? ROWS : 0) + (axes > 0 ? PLACES : 0) + (spans ? SPANS : 0);
    }

    /// {@return what of it a step has, as [StepShape#given] has it}
    ///
    /// @param input the step
    public int in(StepInput input) {
        int found = 0;
        for (int t = 0; t < input.tokenCount() && all() != 0; t++) {
            found |= width > 0 && input.row(t) != null ? ROWS : 0;
            found |= isPlaced(input, t) ? PLACES : 0;
            found |= spans && input.spanStart(t) != input.spanEnd(t) ? SPANS : 0;
        }
        return found;
    }

    private boolean isPlaced(StepInput input, int t) {
        for (int axis = 0; axis < axes; axis++) {
            if (input.coordinate(t, axis) != (axis < TEXT_AXES ? input.position(t) : 0)) {
                return true;
            }
        }
        return false;
    }
}
