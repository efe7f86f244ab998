package dev.tenon.platform.templates.values;

import java.util.AbstractList;
import java.util.List;

/// A tuple: a list that prints with round brackets and equals only tuples.
public class Tuple extends AbstractList<Object> {
    private final List<Object> items;

    /// Makes a tuple.
    public Tuple(List<Object> items) {
        this.items = items;
    }

    /// {@return a tuple of the given items}
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

    /// What `groupby` makes: a pair whose items have names.
    static final class Group extends Tuple implements TemplateObject {
        /// Makes a group.
        ///
        /// @param grouper what its items have in common
        /// @param items the items
        Group(Object grouper, List<Object> items) {
            super(List.of(grouper, items));
        }

        @Override
        public String type() {
            return "_GroupTuple";
        }

        @Override
        public Object attribute(String name) {
            return name.equals("grouper") ? get(0) : name.equals("list") ? get(1) : null;
        }
    }
}
