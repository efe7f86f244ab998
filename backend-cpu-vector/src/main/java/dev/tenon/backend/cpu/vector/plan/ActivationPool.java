package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.backend.cpu.vector.memory.Activations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Assigns arrays to the values of a graph; values whose lives do not overlap share one.
///
/// Used while a graph is walked in order: [#define] at the op that writes, [#releaseAfter] after the last op
/// that reads.
final class ActivationPool {
    private final Map<Integer, Activations> live = new HashMap<>();
    private final Map<Integer, Integer> lastUse = new HashMap<>();
    private final List<Activations> free = new ArrayList<>();
    private final List<Activations> all = new ArrayList<>();

    /// Notes where each value is read last.
    ///
    /// @param ops the ops in order
    /// @param outputs live to the end
    ActivationPool(List<Op> ops, List<Value> outputs) {
        for (int i = 0; i < ops.size(); i++) {
            int at = i;
            ops.get(i).outputs().forEach(v -> lastUse.put(v.id(), at));
            ops.get(i).inputs().forEach(v -> lastUse.put(v.id(), at));
        }
        outputs.forEach(output -> lastUse.put(output.id(), Integer.MAX_VALUE));
    }

    /// {@return the array of a value that was defined before}
    ///
    /// @param value the value
    Activations get(Value value) {
        return live.get(value.id());
    }

    /// Gives a value its array.
    ///
    /// @param value the value
    /// @param selected whether its rows are those that want logits
    /// @return the array, different from those of all live values
    Activations define(Value value, boolean selected) {
        Activations found = temporary(value.width(), selected);
        live.put(value.id(), found);
        return found;
    }

    /// {@return an array for use within one op; released by [#release(Activations)]}
    ///
    /// @param width elements in a row
    /// @param selected whether its rows are those that want logits
    Activations temporary(int width, boolean selected) {
        for (Activations candidate : free) {
            if (candidate.width == width && candidate.selected == selected) {
                free.remove(candidate);
                return candidate;
            }
        }
        Activations fresh = new Activations(width, selected);
        all.add(fresh);
        return fresh;
    }

    /// Releases a temporary array.
    ///
    /// @param temporary the array
    void release(Activations temporary) {
        free.add(temporary);
    }

    /// Releases the arrays of values that nothing reads any more.
    ///
    /// @param op the op just compiled
    /// @param index its index
    void releaseAfter(Op op, int index) {
        List<Value> values = new ArrayList<>(op.inputs());
        values.addAll(op.outputs());
        for (Value value : values) {
            if (lastUse.get(value.id()) <= index) {
                Activations ended = live.remove(value.id());
                if (ended != null) {
                    free.add(ended);
                }
            }
        }
    }

    /// {@return all arrays}
    List<Activations> all() {
        return all;
    }
}
