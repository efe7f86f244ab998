package dev.tenon.platform.templates;

import dev.tenon.platform.templates.Lexer.Kind;
import dev.tenon.platform.templates.Lexer.Token;
import dev.tenon.platform.templates.values.Filters;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Tests;
import dev.tenon.platform.templates.values.Text;
import dev.tenon.platform.templates.values.Undefined;
import dev.tenon.platform.templates.values.Values;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/// Reads Jinja2's expressions from a template's tokens.
class ExpressionParser {
    private static final int MAX_NESTING = 200;
    /// Binary operators, the loosest first; comparisons are chained.
    private static final List<Set<String>> LEVELS = Stream.of(
                    "or", "and", "== != < <= > >= in not", "+ -", "~", "* / // %", "**")
            .map(level -> Set.of(level.split(" ")))
            .toList();
    private static final int COMPARISONS = 2;
    private static final Expression NONE = new Expression.Literal(Values.NONE);
    private static final Expression NOTHING = new Expression.Literal(new Undefined("an inline if has no else"));
    private static final Set<String> NO_OPERANDS = Set.of("and", "or", "not", "if", "else", "is", "in", "recursive");
    private static final Set<String> SPECIAL_NAMES = Set.of("varargs", "kwargs", "caller");
    private static final Set<Kind> LITERALS = Set.of(Kind.STRING, Kind.INTEGER, Kind.FLOAT);

    private final String in;
    private final List<Token> tokens;
    private int next;
    private int nesting;
    private Set<String> specialNames = new HashSet<>();
    private final List<TemplateFailure> unknown = new ArrayList<>();
    private boolean choosing;

    ExpressionParser(String source) {
        in = Lexer.normalize(source);
        tokens = new Lexer(in).run();
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

    final String name() {
        if (!at(Kind.NAME)) {
            throw expected("a name");
        }
        return next();
    }

    final TemplateFailure expected(String what) {
        String found = peek().text().isEmpty() ? "the end" : "'" + peek().text() + "'";
        return failure("expected " + what + ", found " + found);
    }

    final TemplateFailure failure(String text) {
        return Lexer.failure(in, peek().position(), text);
    }

    final void enter() {
        if (++nesting > MAX_NESTING) {
            throw failure("it is nested more than " + MAX_NESTING + " levels deep");
        }
    }

    final void leave() {
        nesting--;
    }

    /// Takes another set for the special names of macros that are read from now on, and returns
    /// the one before.
    final Set<String> specialNames(Set<String> names) {
        Set<String> before = specialNames;
        specialNames = names;
        return before;
    }

    /// Says whether what comes belongs to an `if`, and returns what was so before.
    final boolean choosing(boolean now) {
        boolean before = choosing;
        choosing = now;
        return before;
    }

    /// Fails if a filter or test is unknown, unless an `if` decides whether it is reached: then
    /// it fails there.
    final void requireKnown() {
        if (!choosing && !unknown.isEmpty()) {
            throw unknown.getFirst();
        }
        unknown.clear();
    }

    /// {@return an expression, with commas a tuple; `a if b else c` is read only if it is conditional}
    final Expression tuple(boolean conditional) {
        Expression first = conditional ? expression() : binary(0);
        if (!at(",")) {
            return first;
        }
        List<Expression> items = new ArrayList<>(List.of(first));
        while (take(",") && !at("}}") && !at("%}") && !at(")") && !at("recursive")) {
            items.add(conditional ? expression() : binary(0));
        }
        return new Expression.Sequence(items, true);
    }

    final Expression expression() {
        enter();
        int known = unknown.size();
        Expression value = binary(0);
        while (take("if")) {
            Expression condition = binary(0);
            value = new Expression.Choice(condition, value, take("else") ? expression() : NOTHING);
            unknown.subList(known, unknown.size()).clear();
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
        Expression operand = left;
        while (atAny(LEVELS.get(level)) && (!at("not") || then("in"))) {
            String operator = next();
            operator = operator.equals("not") ? "not " + next() : operator;
            boolean chained = level == COMPARISONS && operand != left;
            Expression right = binary(level + 1);
            Expression pair = new Expression.Binary(operator, level == COMPARISONS ? operand : left, right);
            left = chained ? new Expression.Binary("and", left, pair) : pair;
            operand = right;
        }
        return left;
    }

    private Expression unary(boolean filters) {
        enter();
        Expression value = take("-") ? new Expression.Negative(unary(false)) : take("+") ? unary(false) : operand();
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
                yield new Expression.Literal(Text.of(text.toString()));
            }
            case INTEGER -> integer();
            case FLOAT -> new Expression.Literal(Double.valueOf(next().replace("_", "")));
            case NAME -> name(next());
            default -> bracketed();
        };
    }

    private Expression integer() {
        String text = next().replace("_", "");
        int radix = text.length() < 3
                ? 10
                : switch (text.charAt(1)) {
                    case 'b', 'B' -> 2;
                    case 'o', 'O' -> 8;
                    case 'x', 'X' -> 16;
                    default -> 10;
                };
        try {
            return new Expression.Literal(Long.valueOf(radix == 10 ? text : text.substring(2), radix));
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
                if (SPECIAL_NAMES.contains(name)) {
                    specialNames.add(name);
                }
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

    final Expression.Use filter() {
        String name = name();
        if (!Filters.exists(name)) {
            unknown.add(failure("No filter named '" + name + "'."));
        }
        return new Expression.Use(name, at("(") ? arguments() : Expression.Inputs.NONE);
    }

    private Expression test(Expression value) {
        boolean negated = take("not");
        String name = name();
        if (!Tests.exists(name)) {
            unknown.add(failure("No test named '" + name + "'."));
        }
        Expression.Inputs inputs = Expression.Inputs.NONE;
        if (at("(")) {
            inputs = arguments();
        } else if (at("[") || at("{") || at(Kind.NAME) ? !atAny(NO_OPERANDS) : LITERALS.contains(peek().kind())) {
            inputs = new Expression.Inputs(List.of(operand()), Map.of(), null, null);
        }
        Expression test = new Expression.Tested(value, new Expression.Use(name, inputs));
        return negated ? new Expression.Not(test) : test;
    }

    private Expression.Inputs arguments() {
        need("(");
        List<Expression> positional = new ArrayList<>();
        Map<String, Expression> named = new LinkedHashMap<>();
        Expression spread = null;
        Expression mapping = null;
        while (!take(")")) {
            if (take("*")) {
                spread = expression();
            } else if (take("**")) {
                mapping = expression();
            } else if (at(Kind.NAME) && then("=")) {
                String name = name();
                need("=");
                named.put(name, expression());
            } else {
                positional.add(expression());
            }
            separator(")");
        }
        return new Expression.Inputs(positional, named, spread, mapping);
    }
}
