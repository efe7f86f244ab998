package dev.tenon.platform.templates;

import java.util.List;
import java.util.Map;

/// A parsed expression. What it means is in [Renderer#eval(Expression)].
sealed interface Expression {
    record Literal(Object value) implements Expression {}

    record Name(String name) implements Expression {}

    record Sequence(List<Expression> items, boolean tuple) implements Expression {}
    /// A dictionary: keys and values in turn.
    record Dict(List<Expression> items) implements Expression {}

    record Choice(Expression condition, Expression yes, Expression no) implements Expression {}

    record Not(Expression value) implements Expression {}
    /// Arithmetic, comparisons, `~`, `and`, `or`.
    record Binary(String operator, Expression left, Expression right) implements Expression {}

    record Negative(Expression value) implements Expression {}

    record Item(Expression base, Expression key) implements Expression {}

    record Attribute(Expression base, String name) implements Expression {}

    record Slice(Expression base, Expression start, Expression stop, Expression step) implements Expression {}

    record Call(Expression target, Inputs inputs) implements Expression {}

    record Filtered(Expression value, Use filter) implements Expression {}

    record Tested(Expression value, Use test) implements Expression {}

    record Use(String name, Inputs inputs) {}
    /// What a call is given: by position, by name, and after `*` and `**`, which may be null.
    record Inputs(List<Expression> positional, Map<String, Expression> named, Expression spread, Expression mapping) {
        static final Inputs NONE = new Inputs(List.of(), Map.of(), null, null);
    }
}
