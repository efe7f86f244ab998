package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.math.RopeTable;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The tables of a graph's rotations, each once.
final class RopeTables {
    private final WeightBinder binder;
    private final PlanMemory memory;
    private final int maxTokens;
    private final Map<Key, RopeTable> tables = new HashMap<>();

    /// What two rotations share if their tables are the same.
    private record Key(
            int ropeDim,
            float freqBase,
            List<RopeParams.Turn> turns,
            int run,
            float freqScale,
            Optional<Weight> freqFactors,
            Optional<RopeParams.Yarn> yarn,
            float attentionFactor) {}

    /// @param binder decodes factors
    /// @param memory gives memory
    /// @param maxTokens most tokens of a step
    RopeTables(WeightBinder binder, PlanMemory memory, int maxTokens) {
        this.binder = binder;
        this.memory = memory;
        this.maxTokens = maxTokens;
    }

    /// {@return the table of a rotation}
    RopeTable of(RopeParams p) {
        Key key = new Key(
                p.ropeDim(),
                p.freqBase(),
                p.turns(),
                p.run(),
                p.freqScale(),
                p.freqFactors(),
                p.yarn(),
                p.attentionFactor());
        return tables.computeIfAbsent(key, _ -> {
            float[] factors = p.freqFactors().map(binder::vector).orElse(new float[0]);
            long length = (long) maxTokens * (p.ropeDim() / 2);
            return new RopeTable(p, factors, memory.floats(length, "rope table"), memory.floats(length, "rope table"));
        });
    }

    /// {@return all of them}
    List<RopeTable> all() {
        return List.copyOf(tables.values());
    }
}
