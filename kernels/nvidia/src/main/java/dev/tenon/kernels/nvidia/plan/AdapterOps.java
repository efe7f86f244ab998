package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.Emission;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
import dev.tenon.kernels.nvidia.launch.LinearLaunches;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Product;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.step.AdapterFactor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// Plans what low-rank adapters add: each of them is two products, and between them a sum of one row, which the
/// sequence's scale weights. Adapters that the step's shape does not read have no launches; one that is read and that a
/// sequence does not use adds nothing.
final class AdapterOps {
    private final ValuePool<Slot> pool;
    private final WeightList weights;
    private final LinearLaunches linears;
    private final ExpertLaunches sums;
    private final Readers readers;
    private final List<AdapterFactor> factors = new ArrayList<>();

    /// @param pool memory of values
    /// @param weights memory of weights
    /// @param linears launches of products
    /// @param sums launches of weighted sums
    /// @param readers which ops read a value
    AdapterOps(ValuePool<Slot> pool, WeightList weights, LinearLaunches linears, ExpertLaunches sums, Readers readers) {
        this.readers = readers;
        this.pool = pool;
        this.weights = weights;
        this.linears = linears;
        this.sums = sums;
    }

    /// {@return what the rows of a step are weighted with, as far as ops were planned}
    List<AdapterFactor> factors() {
        return factors;
    }

    /// The change of one adapter.
    ///
    /// @param adapter its number in the graph
    /// @param a `[rank, cols]`
    /// @param b `[width, rank]`
    /// @param factor index of what weights it
    /// @param down the product of rows with `a`
    private record Change(int adapter, DeviceWeight a, DeviceWeight b, int factor, Slot down) {
        long bytes() {
            return a.bytes() + b.bytes();
        }

        Support.Level level() {
            return a.level().compareTo(b.level()) > 0 ? a.level() : b.level();
        }
    }

    /// {@return an op with its memory}
    ///
    /// @param op an op that passed the check
    PlannedOp plan(LowRankAdd op) {
        Slot x = pool.get(op.x());
        Slot base = pool.get(op.base());
        // In place, so that without a launch the result is there.
        boolean shared = readers.only(op.base()).isPresent();
        Slot out = shared ? base : pool.define(op.out(), base.selected);
        if (shared) {
            pool.share(op.out(), base);
        }
        List<Change> changes =
                op.parts().stream().map(part -> change(part, out)).toList();
        changes.forEach(change -> pool.release(change.down));
        return new PlannedOp(
                op.kind(),
                changes.stream().map(change -> change.a.tensor()).collect(Collectors.joining(", ")),
                changes.stream()
                        .flatMap(change -> List.of(change.a, change.b).stream())
                        .map(weight -> "linear_" + weight.format().id())
                        .distinct()
                        .collect(Collectors.joining(", ")),
                changes.stream()
                        .map(Change::level)
                        .max(Support.Level::compareTo)
                        .orElseThrow(),
                out.selected,
                changes.stream().mapToLong(Change::bytes).sum(),
                to -> {
                    Slot before = base;
                    for (Change change : changes) {
                        if (!shared || to.shape.reads(change.adapter)) {
                            emit(to, x, change, before, out);
                            before = out;
                        }
                    }
                });
    }

    private Change change(LowRankAdd.Part part, Slot out) {
        AdapterFactor factor = new AdapterFactor(part.adapter(), part.factor());
        if (!factors.contains(factor)) {
            factors.add(factor);
        }
        // Tensor cores take rows of whole tiles, which few ranks are.
        DeviceWeight b = LinearLaunches.isTiled(part.b().cols()) ? weights.matrix(part.b()) : weights.exact(part.b());
        return new Change(
                part.adapter(),
                weights.matrix(part.a()),
                b,
                factors.indexOf(factor),
                pool.temporary(b.cols(), out.selected));
    }

    private void emit(Emission to, Slot x, Change change, Slot before, Slot out) {
        Argument.Address none = Argument.Address.NULL;
        Slot down = change.down;
        linears.products(to, x, null, List.of(new Product(change.a, none, null, down)));
        Argument.Address scales = to.stepAt(to.layout.scales(change.factor, out.selected));
        sums.weightedSum(to, to.at(down), scales, 1, none, down);
        linears.products(to, down, null, List.of(new Product(change.b, none, before, out)));
    }
}
