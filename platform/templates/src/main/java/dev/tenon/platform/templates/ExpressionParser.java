package dev.tenon.platform.templates;

import dev.tenon.platform.templates.Token.Kind;
import dev.tenon.platform.templates.values.Filters;
import dev.tenon.platform.templates.values.None;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Tests;
import dev.tenon.platform.templates.values.Undefined;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Reads Jinja2's expressions from a template's tokens.
class ExpressionParser {
    private static final int MAX_NESTING = 200;
    /// Binary operators, the loosest first; comparisons are chained.
    private static final List<Set<String>> LEVELS = List.of(
            Set.of("or"),
            Set.of("and"),
            Set.of("==", "!=", "<", "<=", ">", ">=", "in", "not"),
            Set.of("+", "-"),
            Set.of("~"),
            Set.of("*", "/", "//", "%"),
            Set.of("**"));
    private static final int COMPARISONS = 2;
    private static final Expression NONE = new Expression.Literal(None.NONE);
    private static final Expression NOTHING = new Expression.Literal(new Undefined("an inline if has no else"));
    private static final Set<String> NO_OPERANDS = Set.of("and", "or", "not", "if", "else", "is", "in", "recursive");

    private static final Set<Kind> LITERALS = Set.of(Kind.STRING, Kind.INTEGER, Kind.FLOAT);

    private final String in;
    private final List<Token> tokens;
    private int next;
    private int nesting;
    private int specialNames;

    ExpressionParser(String source) {
        in = Lexer.normalize(source);
        tokens = Lexer.read(in);
    }

    final Token peek() {
        return tokens.get(next);
    }

    final boolean at(Kind kind) {
        return peek().kind() == kind;
    }

    final boolean at(String text) {
        return peek().is(text);
    }

    private boolean then(String text) {
        return next + 1 < tokens.size() && tokens.get(next + 1).is(text);
    }

    private boolean atAny(Set<String> texts) {
        return (at(Kind.NAME) || at(Kind.OPERATOR)) && texts.contains(peek().text());
    }

    /// Takes the next token and returns its text.
    final String next() {
        return tokens.get(next++).text();
    }

    /// Takes the next token if it is this name or operator, and returns whether it is.
    final boolean take(String text) {
        boolean found = at(text);
        next += found ? 1 : 0;
        return found;
    }

    final void need(String text) {
        if (!take(text)) {
            throw expected("'" + text + "'");
        }
    }

    final String need(Kind kind, String what) {
        if (!at(kind)) {
            throw expected(what);
        }
        return next();
    }

    final String name() {
        return need(Kind.NAME, "a name");
    }

    final TemplateFailure expected(String what) {
        String found = peek().text().isEmpty() ? "the end" : "'" + peek().text() + "'";
        return failure("expected " + what + ", found " + found);
    }

    /// {@return a failure in the line of the next token}
    final TemplateFailure failure(String text) {
        return Lexer.failure(in, peek().position(), text);
    }

    /// Enters an expression or body inside another.
    final void enter() {
        if (++nesting > MAX_NESTING) {
            throw failure("it is nested more than " + MAX_NESTING + " levels deep");
        }
    }

    final void leave() {
        nesting--;
    }

    /// {@return how often `varargs` or `kwargs` was read so far}
    final int specialNames() {
        return specialNames;
    }

    /// {@return an expression; with commas, a tuple}
    ///
    /// @param conditional whether `a if b else c` is read
    final Expression tuple(boolean conditional) {
        Expression first = conditional ? expression() : binary(0);
        if (!at(",")) {
            return first;
        }
        List<Expression> items = new ArrayList<>(List.of(first));
        while (take(",") && !at(Kind.EXPRESSION_END) && !at(Kind.TAG_END) && !at(")") && !at("recursive")) {
            items.add(conditional ? expression() : binary(0));
        }
        return new Expression.Sequence(items, true);
    }

    /// {@return an expression}
    final Expression expression() {
        enter();
        Expression value = binary(0);
        while (take("if")) {
            Expression condition = binary(0);
            value = new Expression.Choice(condition, value, take("else") ? expression() : NOTHING);
        }
        leave();
        return value;
    }

    private Expression binary(int level) {
        if (level == LEVELS.size()) {
            return unary(true);
        }
        if (level == COMPARISONS && take("not")) {
            enter();
            Expression value = new Expression.Not(binary(level));
            leave();
            return value;
        }
        Expression left = binary(level + 1);
        List<String> operators = new ArrayList<>();
        List<Expression> operands = new ArrayList<>();
        while (atAny(LEVELS.get(level)) && (!at("not") || then("in"))) {
            String operator = next();
            operator = operator.equals("not") ? "not " + next() : operator;
            if (level == COMPARISONS) {
                operators.add(operator);
                operands.add(binary(level + 1));
            } else {
                left = new Expression.Binary(operator, left, binary(level + 1));
            }
        }
        return operators.isEmpty() ? left : new Expression.Compare(left, operators, operands);
    }

    private Expression unary(boolean filters) {
        enter();
        Expression value;
        if (take("-")) {
            value = new Expression.Negative(unary(false));
        } else {
            value = take("+") ? unary(false) : operand();
        }
        while (filters && (at("|") || at("is") || at("("))) {
            value = at("(")
                    ? new Expression.Call(value, arguments())
                    : next().equals("is") ? test(value) : new Expression.Filtered(value, filter());
        }
        leave();
        return value;
    }

    private Expression primary() {
        return switch (peek().kind()) {
            case STRING -> {
                StringBuilder text = new StringBuilder();
                while (at(Kind.STRING)) {
                    text.append(next());
                }
                yield new Expression.Literal(text.toString());
            }
            case INTEGER -> integer();
            case FLOAT -> new Expression.Literal(Double.valueOf(next().replace("_", "")));
            case NAME -> name(next());
            default -> bracketed();
        };
    }

    private Expression integer() {
        String text = next().replace("_", "");
        try {
            return new Expression.Literal(Long.valueOf(text));
        } catch (NumberFormatException e) {
            throw failure("the number " + text + " is broken or has more than 64 bits");
        }
    }

    private Expression name(String name) {
        return switch (name) {
            case "true", "True" -> new Expression.Literal(true);
            case "false", "False" -> new Expression.Literal(false);
            case "none", "None" -> NONE;
            default -> {
                specialNames += name.equals("varargs") || name.equals("kwargs") ? 1 : 0;
                yield new Expression.Name(name);
            }
        };
    }

    private Expression bracketed() {
        List<Expression> items = new ArrayList<>();
        if (take("(")) {
            Expression value = at(")") ? new Expression.Sequence(items, true) : tuple(true);
            need(")");
            return value;
        }
        boolean dict = at("{");
        if (!dict && !at("[")) {
            throw expected("an expression");
        }
        next();
        String close = dict ? "}" : "]";
        while (!take(close)) {
            items.add(expression());
            if (dict) {
                need(":");
                items.add(expression());
            }
            separator(close);
        }
        return dict ? new Expression.Dict(items) : new Expression.Sequence(items, false);
    }

    /// Takes the comma after an item, unless the end is next.
    final void separator(String close) {
        if (!take(",") && !at(close)) {
            throw expected("',' or '" + close + "'");
        }
    }

    /// {@return a value with its attributes, items and calls, without filters}
    final Expression operand() {
        Expression value = primary();
        while (true) {
            if (take(".")) {
                value = at(Kind.INTEGER)
                        ? new Expression.Item(value, integer())
                        : new Expression.Attribute(value, name());
            } else if (take("[")) {
                value = subscript(value);
            } else if (at("(")) {
                value = new Expression.Call(value, arguments());
            } else {
                return value;
            }
        }
    }

    private Expression subscript(Expression base) {
        Expression[] bounds = {NONE, NONE, NONE};
        if (!at(":")) {
            bounds[0] = tuple(true);
            if (take("]")) {
                return new Expression.Item(base, bounds[0]);
            }
        }
        for (int n = 1; n < 3 && take(":"); n++) {
            bounds[n] = at(":") || at("]") ? NONE : expression();
        }
        need("]");
        return new Expression.Slice(base, bounds[0], bounds[1], bounds[2]);
    }

    /// {@return a filter with its arguments}
    final Expression.Use filter() {
        String name = Filters.named(name());
        return new Expression.Use(name, at("(") ? arguments() : Expression.Inputs.NONE);
    }

    private Expression test(Expression value) {
        boolean negated = take("not");
        String name = Tests.named(name());
        Expression.Inputs inputs = Expression.Inputs.NONE;
        if (at("(")) {
            inputs = arguments();
        } else if (at("[") || at("{") || at(Kind.NAME) ? !atAny(NO_OPERANDS) : LITERALS.contains(peek().kind())) {
            inputs = Expression.Inputs.of(operand());
        }
        Expression test = new Expression.Tested(value, new Expression.Use(name, inputs));
        return negated ? new Expression.Not(test) : test;
    }

    private Expression.Inputs arguments() {
        need("(");
        List<Expression> positional = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<Expression> named = new ArrayList<>();
        Expression spread = null;
        Expression spreadNamed = null;
        while (!take(")")) {
            if (take("*")) {
                spread = expression();
            } else if (take("**")) {
                spreadNamed = expression();
            } else if (at(Kind.NAME) && then("=")) {
                names.add(name());
                need("=");
                named.add(expression());
            } else {
                positional.add(expression());
            }
            separator(")");
        }
        return new Expression.Inputs(positional, names, named, spread, spreadNamed);
    }
}
