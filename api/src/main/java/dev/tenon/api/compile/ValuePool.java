package dev.tenon.api.compile;

import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/// Gives the values of a graph their memory, for compilers that walk its ops in order: [#define] at the op
/// that writes a value, [#releaseAfter] after each op. Values of the same shape whose lives do not overlap
/// share memory. For one thread.
///
/// @param <M> memory for the rows of a value; told apart by identity
public final class ValuePool<M> {
    private final Map<Integer, M> live = new HashMap<>();
    private final Map<Integer, Integer> lastUse = new HashMap<>();
    private final Map<M, Shape> shapes = new IdentityHashMap<>();
    private final Map<Shape, Deque<M>> free = new HashMap<>();
    private final List<M> all = new ArrayList<>();
    private final Maker<M> maker;

    private record Shape(int width, boolean selected) {}

    /// Makes memory.
    ///
    /// @param <M> the memory
    @FunctionalInterface
    public interface Maker<M> {
        /// {@return memory for rows of one shape}
        ///
        /// @param purpose what reports call it: the name of the value that uses it first
        /// @param width elements in a row
        /// @param selected whether the rows are those that want logits
        M make(String purpose, int width, boolean selected);
    }

    /// Notes where each value is read last.
    ///
    /// @param ops the ops in order
    /// @param outputs values that live to the end
    /// @param maker makes memory where none is free
    public ValuePool(List<Op> ops, Collection<Value> outputs, Maker<M> maker) {
        this.maker = maker;
        for (int i = 0; i < ops.size(); i++) {
            use(ops.get(i).outputs(), i);
            use(ops.get(i).inputs(), i);
        }
        use(outputs, Integer.MAX_VALUE);
    }

    private void use(Collection<Value> values, int at) {
        for (Value value : values) {
            lastUse.put(value.id(), at);
        }
    }

    /// {@return the memory of a value that was defined before and that something still reads}
    ///
    /// @param value the value
    public M get(Value value) {
        return live.get(value.id());
    }

    /// Gives a value its memory.
    ///
    /// @param value the value
    /// @param selected whether its rows are those that want logits
    /// @return the memory, different from that of all live values
    public M define(Value value, boolean selected) {
        M memory = take(value.name(), value.width(), selected);
        live.put(value.id(), memory);
        return memory;
    }

    /// Lets a value share the memory of another one that ends here.
    ///
    /// @param value the value
    /// @param memory the other one's memory
    public void share(Value value, M memory) {
        live.put(value.id(), memory);
    }

    /// {@return memory for use within one op; [#release] releases it}
    ///
    /// @param width elements in a row
    /// @param selected whether its rows are those that want logits
    public M temporary(int width, boolean selected) {
        return take("temporary", width, selected);
    }

    private M take(String purpose, int width, boolean selected) {
        Shape shape = new Shape(width, selected);
        Deque<M> unused = free.get(shape);
        M found = unused == null ? null : unused.poll();
        if (found == null) {
            found = maker.make(purpose, width, selected);
            shapes.put(found, shape);
            all.add(found);
        }
        return found;
    }

    /// Releases temporary memory.
    ///
    /// @param temporary what [#temporary] returned
    public void release(M temporary) {
        Shape shape = shapes.get(temporary);
        Deque<M> unused = free.get(shape);
        if (unused == null) {
            unused = new ArrayDeque<>();
            free.put(shape, unused);
        }
        unused.add(temporary);
    }

    /// Releases the memory of values that nothing reads any more.
    ///
    /// @param op the op just compiled
    /// @param index its index among the ops
    public void releaseAfter(Op op, int index) {
        List<Value> values = new ArrayList<>(op.inputs());
        values.addAll(op.outputs());
        for (Value value : values) {
            if (lastUse.get(value.id()) <= index) {
                M ended = live.remove(value.id());
                if (ended != null && !isLive(ended)) {
                    release(ended);
                }
            }
        }
    }

    private boolean isLive(M memory) {
        for (M other : live.values()) {
            if (other == memory) {
                return true;
            }
        }
        return false;
    }

    /// {@return all memory that was made, in the order of its making}
    public List<M> all() {
        return List.copyOf(all);
    }
}
