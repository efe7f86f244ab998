package dev.tenon.itest.golden;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.MemoryWeights;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// A graph whose views of tensors are tensors of their own, with the same elements.
final class SeparateTensors {
    private final Weights file;
    private final MemoryWeights made;
    private final Set<String> known = new HashSet<>();

    private SeparateTensors(Weights file, MemoryWeights made) {
        this.file = file;
        this.made = made;
    }

    /// {@return the graph}
    ///
    /// @param graph a graph whose views are matrices of `linear`
    /// @param file its weights
    /// @param made receives those of the new graph
    static Graph of(Graph graph, Weights file, MemoryWeights made) {
        SeparateTensors tensors = new SeparateTensors(file, made);
        List<Op> ops = graph.ops().stream().map(tensors::separate).toList();
        return graph.withOps(ops);
    }

    private Op separate(Op op) {
        if (op instanceof CoreOp.Linear linear && linear.weight().isView()) {
            Weight view = linear.weight();
            Weight whole = new Weight(view.name() + ".from." + view.firstRow(), view.cols(), view.rows());
            add(whole, view);
            return new CoreOp.Linear(linear.x(), whole, linear.bias(), linear.out());
        }
        op.weights().forEach(weight -> add(weight, weight));
        return op;
    }

    private void add(Weight whole, Weight of) {
        if (known.add(whole.name())) {
            QuantFormat format = file.format(of.name());
            long rowBytes = format.bytesFor(of.cols());
            MemorySegment rows = file.data(of.name()).asSlice(of.firstRow() * rowBytes, of.rows() * rowBytes);
            made.add(whole, format, rows.toArray(ValueLayout.JAVA_BYTE));
        }
    }
}
