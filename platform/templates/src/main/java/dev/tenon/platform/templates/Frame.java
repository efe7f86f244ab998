package dev.tenon.platform.templates;

import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.tree.Node;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// One rendering: scopes of names, the text written so far, the budget. Not safe for several threads.
final class Frame {
    /// The limits.
    final Budget budget = new Budget();
    /// The time that `strftime_now` sees.
    final Clock clock;
    /// The engine's interpreter, handed to its nodes.
    final JinjavaInterpreter interpreter;
    /// What the template's positions stand for.
    final Prepared prepared;

    private Scope scope;
    private StringBuilder out = new StringBuilder();

    /// Starts a rendering.
    ///
    /// @param prepared the compiled template
    /// @param interpreter the engine's interpreter
    /// @param clock the time
    /// @param variables converted variables
    Frame(Prepared prepared, JinjavaInterpreter interpreter, Clock clock, Map<String, Object> variables) {
        this.prepared = prepared;
        this.interpreter = interpreter;
        this.clock = clock;
        this.scope = new Scope(null, new HashMap<>(variables));
    }

    /// Names that are visible together, inside those of the parent.
    ///
    /// @param parent outer scope, or null
    /// @param names the names set here
    record Scope(Scope parent, Map<String, Object> names) {}

    /// {@return value of a name, or null}
    ///
    /// @param name variable or function
    Object lookUp(String name) {
        for (Scope s = scope; s != null; s = s.parent) {
            Object value = s.names.get(name);
            if (value != null) {
                return value;
            }
        }
        return Globals.get(name);
    }

    /// Sets a name in the innermost scope.
    ///
    /// @param name variable
    /// @param value its value
    void set(String name, Object value) {
        scope.names.put(name, value);
    }

    /// {@return the innermost scope}
    Scope scope() {
        return scope;
    }

    /// Runs something in a new scope.
    ///
    /// @param parent the scope around it
    /// @param names its first names; may be changed
    /// @param body what to run
    void inScope(Scope parent, Map<String, Object> names, Runnable body) {
        Scope before = scope;
        scope = new Scope(parent, names);
        budget.enter();
        try {
            body.run();
        } finally {
            budget.leave();
            scope = before;
        }
    }

    /// Writes text.
    ///
    /// @param text the text
    void write(String text) {
        budget.string((long) out.length() + text.length() > Budget.MAX_LENGTH ? Long.MAX_VALUE : text.length());
        out.append(text);
    }

    /// Runs something and catches what it writes.
    ///
    /// @param body what to run
    /// @return the text
    String capture(Runnable body) {
        StringBuilder before = out;
        out = new StringBuilder();
        try {
            body.run();
            budget.string(out.length());
            return out.toString();
        } finally {
            out = before;
        }
    }

    /// Renders nodes in order.
    ///
    /// @param nodes the engine's nodes
    void render(List<Node> nodes) {
        for (Node node : nodes) {
            budget.step(1);
            String text = node.render(interpreter).getValue();
            if (!text.isEmpty()) {
                write(text);
            }
        }
    }

    /// {@return the text written so far}
    String text() {
        return out.toString();
    }
}
