package dev.tenon.platform.templates.values;

import java.util.Collections;
import java.util.Iterator;
import java.util.function.Supplier;

/// What Jinja makes one by one, when it is asked for: true, without a length, and empty once it
/// was read.
public final class Generator implements Iterator<Object> {
    private final Supplier<Iterator<Object>> start;
    private Iterator<Object> items;

    /// Makes one that begins when the first item is asked for.
    Generator(Supplier<Iterator<Object>> start) {
        this.start = start;
    }

    private Iterator<Object> items() {
        if (items == null) {
            items = Collections.emptyIterator(); // for one that fails
            items = start.get();
        }
        return items;
    }

    @Override
    public boolean hasNext() {
        return items().hasNext();
    }

    @Override
    public Object next() {
        return items().next();
    }
}
