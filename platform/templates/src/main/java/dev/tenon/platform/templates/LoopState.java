package dev.tenon.platform.templates;

import java.util.List;

/// The `loop` variable of a running loop.
final class LoopState {
    private final List<Object> items;
    private final int depth;
    private final Callable recurse;
    private Object lastChanged;

    /// Position of the current item, from 0.
    int index;

    /// Starts a loop.
    ///
    /// @param items the items
    /// @param depth 0 for the outermost loop
    /// @param recurse renders the loop over other items, or null if it is not recursive
    LoopState(List<Object> items, int depth, Callable recurse) {
        this.items = items;
        this.depth = depth;
        this.recurse = recurse;
    }

    /// {@return number of loops around it}
    int depth() {
        return depth;
    }

    /// {@return what `loop(...)` calls, or null}
    Callable recurse() {
        return recurse;
    }

    /// {@return an attribute, or null}
    ///
    /// @param frame the rendering
    /// @param name its name
    Object attribute(Frame frame, String name) {
        int n = items.size();
        return switch (name) {
            case "index" -> index + 1L;
            case "index0" -> (long) index;
            case "revindex" -> (long) n - index;
            case "revindex0" -> n - index - 1L;
            case "first" -> index == 0;
            case "last" -> index == n - 1;
            case "length" -> (long) n;
            case "depth" -> depth + 1L;
            case "depth0" -> (long) depth;
            case "previtem" -> index > 0 ? items.get(index - 1) : new Undefined("there is no previous item");
            case "nextitem" -> index < n - 1 ? items.get(index + 1) : new Undefined("there is no next item");
            case "cycle" ->
                (Callable) (f, a) -> {
                    if (a.positional().isEmpty()) {
                        throw new TemplateFailure("no items for cycling given");
                    }
                    return a.positional().get(index % a.positional().size());
                };
            case "changed" ->
                (Callable) (f, a) -> {
                    boolean changed = lastChanged == null || !PyOps.equal(f, lastChanged, a.positional());
                    lastChanged = a.positional();
                    return changed;
                };
            default -> null;
        };
    }
}
