package dev.tenon.platform.templates;

import dev.tenon.platform.templates.Token.Kind;
import dev.tenon.platform.templates.values.Comparison;
import dev.tenon.platform.templates.values.Filters;
import dev.tenon.platform.templates.values.None;
import dev.tenon.platform.templates.values.Operator;
import dev.tenon.platform.templates.values.Tests;
import java.util.ArrayList;
import java.util.List;

/// Reads Jinja2's expressions; each method reads one level of the grammar.
final class ExpressionParser {
    private final Tokens tokens;
    private int specialNames;

    /// Reads from tokens.
    ExpressionParser(Tokens tokens) {
        this.tokens = tokens;
    }

    /// {@return how often `varargs` or `kwargs` was read so far}
    int specialNames() {
        return specialNames;
    }

    /// {@return an expression; with commas, a tuple}
    ///
    /// @param conditional whether `a if b else c` is read
    Expression tuple(boolean conditional) {
        Expression first = conditional ? expression() : or();
        if (!tokens.at(",")) {
            return first;
        }
        List<Expression> items = new ArrayList<>(List.of(first));
        while (tokens.take(",") && !atEnd()) {
            items.add(conditional ? expression() : or());
        }
        return new Expression.Sequence(items, true);
    }

    private boolean atEnd() {
        return tokens.at(Kind.EXPRESSION_END) || tokens.at(Kind.TAG_END) || tokens.at(")") || tokens.at("recursive");
    }

    /// {@return an expression}
    Expression expression() {
        tokens.enter();
        Expression value = or();
        while (tokens.take("if")) {
            Expression condition = or();
            value = new Expression.Choice(condition, value, tokens.take("else") ? expression() : null);
        }
        tokens.leave();
        return value;
    }

    private Expression or() {
        Expression left = and();
        while (tokens.take("or")) {
            left = new Expression.Or(left, and());
        }
        return left;
    }

    private Expression and() {
        Expression left = not();
        while (tokens.take("and")) {
            left = new Expression.And(left, not());
        }
        return left;
    }

    private Expression not() {
        if (!tokens.take("not")) {
            return comparison();
        }
        tokens.enter();
        Expression value = new Expression.Not(not());
        tokens.leave();
        return value;
    }

    private Expression comparison() {
        Expression first = sum();
        List<Comparison> operators = new ArrayList<>();
        List<Expression> operands = new ArrayList<>();
        for (Comparison next = comparisonOperator(); next != null; next = comparisonOperator()) {
            operators.add(next);
            operands.add(sum());
        }
        return operators.isEmpty() ? first : new Expression.Compare(first, operators, operands);
    }

    private Comparison comparisonOperator() {
        if (tokens.at("not") && tokens.then("in")) {
            tokens.next();
            tokens.next();
            return Comparison.NOT_IN;
        }
        for (Comparison each : Comparison.values()) {
            if (tokens.take(each.symbol())) {
                return each;
            }
        }
        return null;
    }

    private Operator operator(Operator... any) {
        for (Operator each : any) {
            if (tokens.take(each.symbol())) {
                return each;
            }
        }
        return null;
    }

    private Expression sum() {
        Expression left = concatenation();
        Operator next;
        while ((next = operator(Operator.ADD, Operator.SUBTRACT)) != null) {
            left = new Expression.Binary(next, left, concatenation());
        }
        return left;
    }

    private Expression concatenation() {
        Expression first = product();
        if (!tokens.at("~")) {
            return first;
        }
        List<Expression> parts = new ArrayList<>(List.of(first));
        while (tokens.take("~")) {
            parts.add(product());
        }
        return new Expression.Concatenation(parts);
    }

    private Expression product() {
        Expression left = power();
        Operator next;
        while ((next = operator(Operator.MULTIPLY, Operator.DIVIDE, Operator.FLOOR_DIVIDE, Operator.MODULO)) != null) {
            left = new Expression.Binary(next, left, power());
        }
        return left;
    }

    private Expression power() {
        Expression left = unary(true);
        while (tokens.take("**")) {
            left = new Expression.Binary(Operator.POWER, left, unary(true));
        }
        return left;
    }

    private Expression unary(boolean filters) {
        tokens.enter();
        Expression value;
        if (tokens.take("-")) {
            value = new Expression.Negative(unary(false));
        } else if (tokens.take("+")) {
            value = unary(false);
        } else {
            value = primary();
        }
        value = postfix(value);
        while (filters) {
            if (tokens.take("|")) {
                value = new Expression.Filtered(value, filter());
            } else if (tokens.take("is")) {
                value = test(value);
            } else if (tokens.at("(")) {
                value = new Expression.Call(value, arguments());
            } else {
                break;
            }
        }
        tokens.leave();
        return value;
    }

    private Expression primary() {
        Token token = tokens.peek();
        switch (token.kind()) {
            case STRING -> {
                StringBuilder text = new StringBuilder();
                while (tokens.at(Kind.STRING)) {
                    text.append(tokens.next());
                }
                return new Expression.Literal(text.toString());
            }
            case INTEGER -> {
                return new Expression.Literal(integer());
            }
            case FLOAT -> {
                return new Expression.Literal(Double.valueOf(tokens.next()));
            }
            case NAME -> {
                return name(tokens.next());
            }
            default -> {
                return bracketed();
            }
        }
    }

    private Expression bracketed() {
        List<Expression> items = new ArrayList<>();
        if (tokens.take("(")) {
            Expression value = tokens.at(")") ? new Expression.Sequence(items, true) : tuple(true);
            tokens.need(")");
            return value;
        }
        boolean dict = tokens.at("{");
        if (!dict && !tokens.at("[")) {
            throw tokens.expected("an expression");
        }
        tokens.next();
        String close = dict ? "}" : "]";
        while (!tokens.at(close)) {
            items.add(expression());
            if (dict) {
                tokens.need(":");
                items.add(expression());
            }
            if (!tokens.take(",")) {
                break;
            }
        }
        tokens.need(close);
        return dict ? new Expression.Dict(items) : new Expression.Sequence(items, false);
    }

    private Long integer() {
        try {
            return Long.valueOf(tokens.peek().text());
        } catch (NumberFormatException e) {
            throw tokens.failure("the number " + tokens.peek().text() + " has more than 64 bits");
        } finally {
            tokens.next();
        }
    }

    private Expression name(String name) {
        return switch (name) {
            case "true", "True" -> new Expression.Literal(true);
            case "false", "False" -> new Expression.Literal(false);
            case "none", "None" -> new Expression.Literal(None.NONE);
            default -> {
                specialNames += name.equals("varargs") || name.equals("kwargs") ? 1 : 0;
                yield new Expression.Name(name);
            }
        };
    }

    private Expression postfix(Expression start) {
        Expression value = start;
        while (true) {
            if (tokens.take(".")) {
                value = tokens.at(Kind.INTEGER)
                        ? new Expression.Item(value, new Expression.Literal(integer()))
                        : new Expression.Attribute(value, tokens.name());
            } else if (tokens.take("[")) {
                value = subscript(value);
            } else if (tokens.at("(")) {
                value = new Expression.Call(value, arguments());
            } else {
                return value;
            }
        }
    }

    private Expression subscript(Expression base) {
        Expression[] bounds = new Expression[3];
        if (!tokens.at(":")) {
            bounds[0] = tuple(true);
            if (tokens.take("]")) {
                return new Expression.Item(base, bounds[0]);
            }
        }
        for (int n = 1; n < 3 && tokens.take(":"); n++) {
            bounds[n] = tokens.at(":") || tokens.at("]") ? null : expression();
        }
        tokens.need("]");
        return new Expression.Slice(base, bounds[0], bounds[1], bounds[2]);
    }

    private String dottedName() {
        StringBuilder name = new StringBuilder(tokens.name());
        while (tokens.take(".")) {
            name.append('.').append(tokens.name());
        }
        return name.toString();
    }

    /// {@return a filter's name and arguments}
    Expression.Use filter() {
        String name = Filters.named(dottedName());
        return new Expression.Use(name, tokens.at("(") ? arguments() : Expression.Inputs.NONE);
    }

    private Expression test(Expression value) {
        boolean negated = tokens.take("not");
        String name = Tests.named(dottedName());
        Expression.Inputs arguments = Expression.Inputs.NONE;
        if (tokens.at("(")) {
            arguments = arguments();
        } else if (startsOperand()) {
            arguments = new Expression.Inputs(List.of(postfix(primary())), List.of(), List.of(), null, null);
        }
        Expression test = new Expression.Tested(value, new Expression.Use(name, arguments));
        return negated ? new Expression.Not(test) : test;
    }

    private boolean startsOperand() {
        return switch (tokens.peek().kind()) {
            case STRING, INTEGER, FLOAT -> true;
            case NAME ->
                switch (tokens.peek().text()) {
                    case "and", "or", "not", "if", "else", "is", "in", "recursive" -> false;
                    default -> true;
                };
            default -> tokens.at("[") || tokens.at("{");
        };
    }

    /// {@return the arguments of a call, from bracket to bracket}
    Expression.Inputs arguments() {
        tokens.need("(");
        List<Expression> positional = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<Expression> named = new ArrayList<>();
        Expression spread = null;
        Expression spreadNamed = null;
        while (!tokens.at(")")) {
            if (tokens.take("*")) {
                spread = expression();
            } else if (tokens.take("**")) {
                spreadNamed = expression();
            } else if (tokens.at(Kind.NAME) && tokens.then("=")) {
                names.add(tokens.name());
                tokens.need("=");
                named.add(expression());
            } else if (names.isEmpty() && spreadNamed == null) {
                positional.add(expression());
            } else {
                throw tokens.failure("a positional argument follows a named one");
            }
            if (!tokens.take(",")) {
                break;
            }
        }
        tokens.need(")");
        return new Expression.Inputs(positional, names, named, spread, spreadNamed);
    }
}
