package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Arguments;
import dev.tenon.platform.templates.values.Budget;
import dev.tenon.platform.templates.values.Callable;
import dev.tenon.platform.templates.values.Comparison;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.TemplateObject;
import dev.tenon.platform.templates.values.Undefined;
import java.util.List;

/// The `loop` variable of a running loop; a recursive loop may be called with other items.
final class Loop implements TemplateObject, Callable {
    private final Statement.For statement;
    private final List<Object> items;
    private final Frame frame;
    private final Frame.Scope scope;
    private final int depth;
    private int index;
    private Object lastChanged;

    /// Starts a loop.
    ///
    /// @param depth 0 for the outermost of a recursive loop
    Loop(Statement.For statement, List<Object> items, Frame frame, Frame.Scope scope, int depth) {
        this.statement = statement;
        this.items = items;
        this.frame = frame;
        this.scope = scope;
        this.depth = depth;
    }

    /// Goes to an item.
    void moveTo(int position) {
        index = position;
    }

    @Override
    public String type() {
        return "LoopContext";
    }

    @Override
    public Object call(Budget budget, Arguments arguments) {
        if (!statement.recursive()) {
            throw new TemplateFailure("The loop must have the 'recursive' marker to be called recursively.");
        }
        StringBuilder before = frame.capture();
        statement.loop(frame, arguments.need(0, "iterable"), scope, depth + 1);
        return frame.captured(before);
    }

    @Override
    public Object attribute(String name) {
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
            case "cycle" -> (Callable) (budget, a) -> cycle(a.positional());
            case "changed" -> (Callable) (budget, a) -> changed(budget, a.positional());
            default -> null;
        };
    }

    private Object cycle(List<Object> values) {
        if (values.isEmpty()) {
            throw new TemplateFailure("no items for cycling given");
        }
        return values.get(index % values.size());
    }

    private Object changed(Budget budget, List<Object> values) {
        boolean changed = lastChanged == null || !Comparison.EQ.holds(budget, lastChanged, values);
        lastChanged = values;
        return changed;
    }
}
