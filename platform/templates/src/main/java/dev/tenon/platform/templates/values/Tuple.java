package dev.tenon.platform.templates.values;

import java.util.AbstractList;
import java.util.List;

/// A tuple: a list that prints with round brackets and equals only tuples. Its items may have
/// names.
public final class Tuple extends AbstractList<Object> {
    private final List<Object> items;
    private final List<String> names;

    /// Makes a tuple of items, which are kept.
    public Tuple(List<Object> items) {
        this(items, List.of());
    }

    Tuple(List<Object> items, List<String> names) {
        this.items = items;
        this.names = names;
    }

    static Tuple of(Object... items) {
        return new Tuple(List.of(items));
    }

    /// {@return the item of a name, or null}
    Object named(String name) {
        int at = names.indexOf(name);
        return at < 0 ? null : items.get(at);
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
