package dev.tenon.itest.testkit.models;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import java.util.ArrayList;
import java.util.List;

/// Random decoders whose projections low-rank adapters change.
public final class AdapterModels {
    /// Adapters of a model.
    public static final int ADAPTERS = 2;

    private AdapterModels() {}

    /// Makes the model of [RandomModels#llamaLike] with two adapters: the first one changes all
    /// projections, the second one every other.
    ///
    /// @param seed seed of the weights
    /// @param format format of the matrices, also of the adapters
    /// @return the model; the caller closes it
    public static Model llamaLike(long seed, QuantFormat format) {
        Shape shape = Shape.smallFor(format);
        int rank = Math.max(4, format.blockSize());
        try (Model model = RandomModels.llamaLike(seed, format, shape)) {
            List<Op> ops = new ArrayList<>();
            int nextId = model.graph().valueCount();
            for (Op op : model.graph().ops()) {
                if (!(op instanceof CoreOp.Linear linear)) {
                    ops.add(op);
                    continue;
                }
                Value base = new Value(
                        nextId++, linear.out().name() + ".base", linear.out().width());
                List<LowRankAdd.Part> parts = new ArrayList<>();
                parts.add(part(0, linear.weight(), rank));
                if (nextId % 2 == 0) {
                    parts.add(part(1, linear.weight(), 3 * rank));
                }
                ops.add(new CoreOp.Linear(linear.x(), linear.weight(), linear.bias(), base));
                ops.add(new LowRankAdd(linear.x(), base, parts, linear.out()));
            }
            Graph graph = model.graph().withOps(ops);
            return new Model(
                    "adapters on " + model.name(),
                    graph,
                    RandomModels.weightsFor(graph, format, seed),
                    model.vocabularySize());
        }
    }

    private static LowRankAdd.Part part(int adapter, Weight weight, int rank) {
        String name = adapter + ":" + weight.name();
        Weight a = new Weight(name + ".lora_a", weight.cols(), rank);
        return new LowRankAdd.Part(adapter, a, new Weight(name + ".lora_b", rank, weight.rows()), 0.5f);
    }
}
