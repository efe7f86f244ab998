package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.PartOp;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches.Choices;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches.Gate;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches.Matrices;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Slot;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Plans the matrices of heads: they are experts, each of which every token has chosen.
final class HeadOps {
    private final ValuePool<Slot> pool;
    private final WeightList weights;
    private final BufferList buffers;
    private final ExpertLaunches launches;
    private final int maxRows;
    private final Map<Key, Choices> choices = new HashMap<>();
    /// Choices that an earlier op of each step orders.
    private final Set<Choices> ordered = new HashSet<>();

    private record Key(int heads, boolean selected) {}

    /// @param pool memory of values
    /// @param weights memory of weights
    /// @param buffers all memory
    /// @param launches launches of experts
    /// @param maxRows most rows of a value
    HeadOps(ValuePool<Slot> pool, WeightList weights, BufferList buffers, ExpertLaunches launches, int maxRows) {
        this.pool = pool;
        this.weights = weights;
        this.buffers = buffers;
        this.launches = launches;
        this.maxRows = maxRows;
    }

    /// {@return an op with its memory}
    ///
    /// @param l an op that passed the check
    PlannedOp plan(PartOp.HeadLinear l) {
        Slot x = pool.get(l.x());
        DeviceWeight w = weights.matrix(l.weight());
        Matrices matrices = new Matrices(w, Argument.Address.NULL);
        Choices all = choices.computeIfAbsent(new Key(l.heads(), x.selected), this::all);
        boolean first = launches.matmul(w) && ordered.add(all);
        Slot out = pool.define(l.out(), x.selected);
        return new PlannedOp(
                l.kind(), w.tensor(), "expert_linear_" + w.format().id(), w.level(), x.selected, w.bytes(), to -> {
                    if (first) {
                        launches.order(to, all);
                    }
                    launches.linear(to, x, null, all, matrices, Gate.NONE.activation(), to.out(out));
                });
    }

    private Choices all(Key key) {
        float[] numbers = new float[maxRows * key.heads];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i % key.heads;
        }
        return new Choices(
                new Slot(weights.numbers("numbers of heads", numbers), key.heads, key.selected),
                key.heads,
                buffers.add(BufferSpec.Kind.ACTIVATION, "rows by head", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "tiles of rows", 0),
                null);
    }
}
