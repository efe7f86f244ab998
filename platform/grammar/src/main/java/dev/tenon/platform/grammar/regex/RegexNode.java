package dev.tenon.platform.grammar.regex;

import dev.tenon.platform.grammar.expr.CodePoints;
import java.util.List;

/// A parsed regular expression.
sealed interface RegexNode {
    /// One character of a set.
    record Chars(CodePoints set) implements RegexNode {}

    /// One after the other.
    record Sequence(List<RegexNode> parts) implements RegexNode {}

    /// Any of them.
    record Choice(List<RegexNode> parts) implements RegexNode {}

    /// So many times; `max` is [dev.tenon.platform.grammar.expr.Expr#UNBOUNDED] for no limit.
    record Repeat(RegexNode part, int min, int max) implements RegexNode {}

    /// The start of the text, or its end.
    record Anchor(boolean start) implements RegexNode {}
}
