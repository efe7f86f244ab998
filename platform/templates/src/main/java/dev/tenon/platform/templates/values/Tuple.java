package dev.tenon.platform.templates.values;

import java.util.AbstractList;
import java.util.List;

/// A tuple: a list that prints with round brackets and equals only tuples.
public final class Tuple extends AbstractList<Object> {
    private final List<Object> items;

    /// Makes a tuple of items, which are kept.
    public Tuple(List<Object> items) {
        this.items = items;
    }

    static Tuple of(Object... items) {
        return new Tuple(List.of(items));
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
