package dev.tenon.platform.templates;

import java.util.AbstractList;
import java.util.List;

/// A tuple: a list that prints with round brackets.
final class PyTuple extends AbstractList<Object> {
    private final List<Object> items;

    /// Makes a tuple.
    ///
    /// @param items its items; kept
    PyTuple(List<Object> items) {
        this.items = items;
    }

    /// {@return a pair}
    ///
    /// @param first first item
    /// @param second second item
    static PyTuple pair(Object first, Object second) {
        return new PyTuple(List.of(first, second));
    }

    @Override
    public Object get(int index) {
        return items.get(index);
    }

    @Override
    public int size() {
        return items.size();
    }
}
