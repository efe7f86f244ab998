package dev.tenon.platform.templates;

import dev.tenon.platform.templates.values.Budget;
import dev.tenon.platform.templates.values.Function;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/// One rendering: scopes of names, the text written so far, the budget. A failure ends it, so scopes and captures need
/// not be undone then. Not safe for several threads.
final class Frame {
    /// The limits.
    final Budget budget = new Budget();

    private final Clock clock;
    private Scope scope;
    private StringBuilder out = new StringBuilder();

    /// Starts a rendering.
    ///
    /// @param clock the time that `strftime_now` sees
    /// @param variables a template's values by name; may be changed
    Frame(Clock clock, Map<String, Object> variables) {
        this.clock = clock;
        this.scope = new Scope(null, variables);
    }

    /// Names that are visible together, inside those of the parent, which may be null.
    record Scope(Scope parent, Map<String, Object> names) {}

    /// {@return value of a variable or function, or null}
    Object lookUp(String name) {
        for (Scope s = scope; s != null; s = s.parent) {
            Object value = s.names.get(name);
            if (value != null) {
                return value;
            }
        }
        return Function.of(name, clock);
    }

    /// Sets a variable in the innermost scope.
    void set(String name, Object value) {
        scope.names.put(name, value);
    }

    /// {@return the innermost scope}
    Scope scope() {
        return scope;
    }

    /// {@return the scope before, for [#leave(Scope)]}
    ///
    /// @param parent what the new scope is inside of
    Scope enter(Scope parent) {
        budget.enter();
        Scope before = scope;
        scope = new Scope(parent, new HashMap<>());
        return before;
    }

    /// Leaves a scope.
    void leave(Scope before) {
        budget.leave();
        scope = before;
    }

    /// Writes text.
    void write(String text) {
        budget.string(text.length());
        out.append(text);
        Budget.check(out);
    }

    /// {@return the text written before, for [#captured(StringBuilder)]; what is written from now on is kept apart}
    StringBuilder capture() {
        StringBuilder before = out;
        out = new StringBuilder();
        return before;
    }

    /// {@return the text written since the capture began}
    String captured(StringBuilder before) {
        String text = budget.made(out.toString());
        out = before;
        return text;
    }

    /// {@return the text written}
    String text() {
        return out.toString();
    }
}
