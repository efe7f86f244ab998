package dev.tenon.platform.templates;

import java.util.List;
import java.util.Map;
import java.util.Set;

/// A part of a template that writes or sets something. What it means is in [Renderer].
///
/// What is assigned to is an expression too: a name, an attribute of a name, or a tuple of those.
sealed interface Statement {

    /// Text, `{{ value }}` or `print`.
    record Output(Expression value) implements Statement {}

    /// `break` or `continue`.
    record Exit(Renderer.Flow flow) implements Statement {}

    /// `if`, and `do`, which has no body.
    record If(List<Branch> branches) implements Statement {}

    record Branch(Expression condition, List<Statement> body) {}
    /// `for`; the filter may be null.
    record For(
            Expression target,
            Expression items,
            Expression filter,
            boolean recursive,
            List<Statement> body,
            List<Statement> otherwise)
            implements Statement {}

    record Assign(Expression target, Expression value) implements Statement {}
    /// `set` and `filter` with a body, whose text goes through filters; without a target it is written.
    record Capture(Expression target, List<Expression.Use> filters, List<Statement> body) implements Statement {}
    /// `with`: names for the body only; also a body that only has a scope, such as `block` and
    /// `generation`.
    record With(List<Expression> targets, List<Expression> values, List<Statement> body) implements Statement {}
    /// `macro`, or the body of a `call`: its parameters with their defaults, which may be null,
    /// and which of `varargs`, `kwargs` and `caller` the body reads.
    record Macro(String name, Map<String, Expression> parameters, List<Statement> body, Set<String> uses)
            implements Statement {}

    record CallBlock(Macro caller, Expression.Call call) implements Statement {}
}
