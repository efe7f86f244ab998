package dev.tenon.itest.testkit;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import java.util.ArrayList;
import java.util.List;

/// Makes graphs that end early, so that any backend gives the output of any op.
public final class Cut {
    private Cut() {}

    /// {@return the graph up to an op, with that op's first output as its own}
    ///
    /// @param graph a graph of core ops
    /// @param index number of the op, 0-based
    public static Graph after(Graph graph, int index) {
        List<Op> ops = new ArrayList<>(graph.ops().subList(0, index + 1));
        Value output = ops.getLast().outputs().getFirst();
        if (ops.stream().noneMatch(op -> op instanceof CoreOp.SelectRows || op instanceof CoreOp.Pool)) {
            Value rows = new Value(graph.valueCount(), "rows", output.width());
            ops.add(new CoreOp.SelectRows(output, rows));
            output = rows;
        }
        return new Graph(graph.name(), ops, output);
    }
}
