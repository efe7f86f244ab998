package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.BufferSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Gives the values of a graph their memory; values whose lives do not overlap share it.
///
/// Used while a graph is walked in order: [#define] at the op that writes, [#releaseAfter] after it.
final class SlotPool {
    private final Map<Integer, Slot> live = new HashMap<>();
    private final Map<Integer, Integer> lastUse = new HashMap<>();
    private final List<Slot> free = new ArrayList<>();
    private final BufferList buffers;
    private final int maxRows;
    private final int maxSelected;

    /// @param ops the ops in order
    /// @param output lives to the end
    /// @param buffers gives the memory
    /// @param maxRows most rows of a step
    /// @param maxSelected most rows with logits of a run
    SlotPool(List<Op> ops, Value output, BufferList buffers, int maxRows, int maxSelected) {
        this.buffers = buffers;
        this.maxRows = maxRows;
        this.maxSelected = maxSelected;
        for (int i = 0; i < ops.size(); i++) {
            int at = i;
            ops.get(i).outputs().forEach(v -> lastUse.put(v.id(), at));
            ops.get(i).inputs().forEach(v -> lastUse.put(v.id(), at));
        }
        lastUse.put(output.id(), Integer.MAX_VALUE);
    }

    /// {@return the memory of a value that was defined before}
    Slot get(Value value) {
        return live.get(value.id());
    }

    /// {@return memory for a value, different from that of all live ones}
    Slot define(Value value, boolean selected) {
        Slot found = null;
        for (Slot candidate : free) {
            if (candidate.width == value.width() && candidate.selected == selected) {
                found = candidate;
                break;
            }
        }
        if (found == null) {
            long rows = selected ? maxSelected : maxRows;
            found = new Slot(
                    buffers.add(BufferSpec.Kind.ACTIVATION, value.name(), Math.multiplyExact(rows * Float.BYTES, (long)
                            value.width())),
                    value.width(),
                    selected);
        } else {
            free.remove(found);
        }
        live.put(value.id(), found);
        return found;
    }

    /// Makes a value share the memory of another one that ends here.
    void share(Value value, Slot slot) {
        live.put(value.id(), slot);
    }

    /// Releases the memory of values that nothing reads any more.
    ///
    /// @param op the op just planned
    /// @param index its index
    void releaseAfter(Op op, int index) {
        List<Value> values = new ArrayList<>(op.inputs());
        values.addAll(op.outputs());
        for (Value value : values) {
            if (lastUse.get(value.id()) <= index) {
                Slot ended = live.remove(value.id());
                if (ended != null && !live.containsValue(ended) && !free.contains(ended)) {
                    free.add(ended);
                }
            }
        }
    }
}
