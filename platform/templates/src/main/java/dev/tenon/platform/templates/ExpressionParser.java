package dev.tenon.platform.templates;

import com.hubspot.jinjava.el.ext.ExtendedParser;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import jinjava.de.odysseus.el.tree.impl.Builder;
import jinjava.de.odysseus.el.tree.impl.Parser;
import jinjava.de.odysseus.el.tree.impl.Scanner;
import jinjava.de.odysseus.el.tree.impl.Scanner.Symbol;

/// Python's expression grammar over the engine's expression tokens; see [JinjaMends] for what the engine's
/// own grammar
/// reads otherwise.
final class ExpressionParser extends ExtendedParser {
    private static final int MAX_NESTING = 200;

    private int nesting;

    private ExpressionParser(String expression) {
        super(new Builder(Builder.Feature.METHOD_INVOCATIONS), "#{" + expression + "}");
    }

    /// Reads part of a tag with the parser.
    ///
    /// @param <T> what comes out
    @FunctionalInterface
    interface Reader<T> {
        /// {@return what was read}
        ///
        /// @param parser stands before the first token
        /// @throws Scanner.ScanException if a token is broken
        /// @throws Parser.ParseException if the grammar is broken
        T read(ExpressionParser parser) throws Scanner.ScanException, Parser.ParseException;
    }

    /// Parses a whole text.
    ///
    /// @param text an expression or the inside of a tag
    /// @param reader reads it; everything must be used up
    /// @param <T> what comes out
    /// @return what the reader gave
    static <T> T parse(String text, Reader<T> reader) {
        try {
            ExpressionParser parser = new ExpressionParser(text);
            parser.consumeToken();
            parser.consumeToken(Symbol.START_EVAL_DEFERRED);
            T result = reader.read(parser);
            parser.consumeToken(Symbol.END_EVAL);
            return result;
        } catch (Scanner.ScanException | Parser.ParseException | NumberFormatException e) {
            throw new TemplateFailure(
                    "the expression '" + shorten(text.strip()) + "' does not parse: " + e.getMessage());
        }
    }

    private static String shorten(String text) {
        return text.length() <= 120 ? text : text.substring(0, 117) + "...";
    }

    @Override
    protected Scanner createScanner(String expression) {
        return new PythonScanner(expression);
    }

    /// {@return whether the next token is written like this}
    ///
    /// @param image the text
    boolean at(String image) {
        return getToken().getSymbol() != Symbol.STRING
                && image.equals(getToken().getImage());
    }

    /// Takes the next token if it is written like this.
    ///
    /// @param image the text
    /// @return whether it was
    boolean take(String image) throws Scanner.ScanException, Parser.ParseException {
        if (at(image)) {
            consumeToken();
            return true;
        }
        return false;
    }

    /// Takes a token that must be there.
    ///
    /// @param image the text
    void need(String image) throws Scanner.ScanException, Parser.ParseException {
        if (!take(image)) {
            fail(image);
        }
    }

    /// {@return the next token, which must be a name}
    String name() throws Scanner.ScanException, Parser.ParseException {
        if (!isName(getToken())) {
            fail(Symbol.IDENTIFIER);
        }
        return consumeToken().getImage();
    }

    /// {@return whether everything is used up}
    boolean atEnd() {
        return getToken().getSymbol() == Symbol.END_EVAL;
    }

    private static boolean isName(Scanner.Token token) {
        String image = token.getImage();
        return token.getSymbol() != Symbol.STRING
                && !image.isEmpty()
                && Character.isJavaIdentifierStart(image.charAt(0));
    }

    /// {@return the names that a `for` or `set` assigns}
    List<String> targets() throws Scanner.ScanException, Parser.ParseException {
        boolean bracket = take("(");
        List<String> names = new ArrayList<>();
        do {
            if (bracket && at(")")) {
                break;
            }
            names.add(name());
        } while (take(","));
        if (bracket) {
            need(")");
        }
        return names;
    }

    /// {@return an expression; with commas, a tuple}
    ///
    /// @param conditional whether `a if b else c` is read
    Eval tuple(boolean conditional) throws Scanner.ScanException, Parser.ParseException {
        Eval first = conditional ? expression() : disjunction();
        if (!at(",")) {
            return first;
        }
        List<Eval> items = new ArrayList<>(List.of(first));
        while (take(",")) {
            if (atEnd() || at(")")) {
                break;
            }
            items.add(conditional ? expression() : disjunction());
        }
        return Nodes.list(items, true);
    }

    /// {@return an expression}
    Eval expression() throws Scanner.ScanException, Parser.ParseException {
        if (++nesting > MAX_NESTING) {
            throw new TemplateFailure("an expression is nested more than " + MAX_NESTING + " levels deep");
        }
        Eval value = disjunction();
        while (take("if")) {
            Eval condition = disjunction();
            Eval otherwise = take("else") ? expression() : f -> new Undefined("an inline if has no else");
            value = Nodes.choice(condition, value, otherwise);
        }
        nesting--;
        return value;
    }

    /// {@return an expression without inline `if`}
    Eval disjunction() throws Scanner.ScanException, Parser.ParseException {
        Eval left = conjunction();
        while (take("or")) {
            left = Nodes.or(left, conjunction());
        }
        return left;
    }

    private Eval conjunction() throws Scanner.ScanException, Parser.ParseException {
        Eval left = negation();
        while (take("and")) {
            left = Nodes.and(left, negation());
        }
        return left;
    }

    private Eval negation() throws Scanner.ScanException, Parser.ParseException {
        boolean negative = false;
        while (take("not")) {
            negative = !negative;
            if (!negative) {
                return Nodes.truth(negation(), true);
            }
        }
        Eval value = comparison();
        return negative ? Nodes.truth(value, false) : value;
    }

    private Eval comparison() throws Scanner.ScanException, Parser.ParseException {
        Eval left = sum();
        List<String> operators = new ArrayList<>();
        List<Eval> operands = new ArrayList<>();
        while (true) {
            String image =
                    getToken().getSymbol() == Symbol.STRING ? "" : getToken().getImage();
            String operator = switch (image) {
                case "==", "!=", "<", "<=", ">", ">=", "in" -> image;
                case "not" -> "in".equals(lookahead(0).getImage()) ? "not in" : null;
                default -> null;
            };
            if (operator == null) {
                return operators.isEmpty() ? left : Nodes.compare(left, operators, operands);
            }
            consumeToken();
            if (operator.equals("not in")) {
                consumeToken();
            }
            operators.add(operator);
            operands.add(sum());
        }
    }

    private Eval sum() throws Scanner.ScanException, Parser.ParseException {
        Eval left = concatenation();
        while (at("+") || at("-")) {
            String operator = consumeToken().getImage();
            left = Nodes.binary(operator, left, concatenation());
        }
        return left;
    }

    private Eval concatenation() throws Scanner.ScanException, Parser.ParseException {
        Eval first = product();
        if (!at("~")) {
            return first;
        }
        List<Eval> parts = new ArrayList<>(List.of(first));
        while (take("~")) {
            parts.add(product());
        }
        return Nodes.concat(parts);
    }

    private Eval product() throws Scanner.ScanException, Parser.ParseException {
        Eval left = power();
        while (at("*") || at("/") || at("//") || at("%")) {
            String operator = consumeToken().getImage();
            left = Nodes.binary(operator, left, power());
        }
        return left;
    }

    private Eval power() throws Scanner.ScanException, Parser.ParseException {
        Eval left = sign(true);
        while (take("**")) {
            left = Nodes.binary("**", left, sign(true));
        }
        return left;
    }

    private Eval sign(boolean filters) throws Scanner.ScanException, Parser.ParseException {
        if (++nesting > MAX_NESTING) {
            throw new TemplateFailure("an expression is nested more than " + MAX_NESTING + " levels deep");
        }
        Eval value;
        if (take("-")) {
            value = Nodes.negate(sign(false));
        } else if (take("+")) {
            value = sign(false);
        } else {
            value = primary();
        }
        value = postfix(value);
        if (filters) {
            value = filters(value);
        }
        nesting--;
        return value;
    }

    private Eval primary() throws Scanner.ScanException, Parser.ParseException {
        Scanner.Token token = getToken();
        if (token.getSymbol() == Symbol.STRING) {
            StringBuilder text = new StringBuilder(consumeToken().getImage());
            while (getToken().getSymbol() == Symbol.STRING) {
                text.append(consumeToken().getImage());
            }
            return Nodes.constant(text.toString());
        }
        if (token.getSymbol() == Symbol.INTEGER) {
            BigInteger value = new BigInteger(consumeToken().getImage());
            if (value.bitLength() > 63) {
                throw new TemplateFailure("the number " + value + " has more than 64 bits");
            }
            return Nodes.constant(value.longValue());
        }
        if (token.getSymbol() == Symbol.FLOAT) {
            return Nodes.constant(Double.parseDouble(consumeToken().getImage()));
        }
        if (take("(")) {
            if (take(")")) {
                return Nodes.list(List.of(), true);
            }
            Eval value = tuple(true);
            need(")");
            return value;
        }
        if (take("[")) {
            List<Eval> items = new ArrayList<>();
            while (!at("]")) {
                items.add(expression());
                if (!take(",")) {
                    break;
                }
            }
            need("]");
            return Nodes.list(items, false);
        }
        if (take("{")) {
            List<Eval> items = new ArrayList<>();
            while (!at("}")) {
                items.add(expression());
                need(":");
                items.add(expression());
                if (!take(",")) {
                    break;
                }
            }
            need("}");
            return Nodes.dict(items);
        }
        return Nodes.name(name());
    }

    private Eval postfix(Eval start) throws Scanner.ScanException, Parser.ParseException {
        Eval value = start;
        while (true) {
            if (take(".")) {
                if (getToken().getSymbol() == Symbol.INTEGER) {
                    value = Nodes.item(
                            value, Nodes.constant(Long.parseLong(consumeToken().getImage())));
                } else {
                    value = Nodes.attribute(value, name());
                }
            } else if (getToken().getSymbol() == Symbol.FLOAT
                    && getToken().getImage().startsWith(".")) {
                value = Nodes.item(
                        value,
                        Nodes.constant(Long.parseLong(consumeToken().getImage().substring(1))));
            } else if (take("[")) {
                value = subscript(value);
            } else if (at("(")) {
                value = Nodes.call(value, arguments());
            } else {
                return value;
            }
        }
    }

    private Eval subscript(Eval base) throws Scanner.ScanException, Parser.ParseException {
        Eval[] bounds = new Eval[3];
        int n = 0;
        if (!at(":")) {
            bounds[0] = expression();
            if (take("]")) {
                return Nodes.item(base, bounds[0]);
            }
        }
        while (n < 2 && take(":")) {
            n++;
            if (!at(":") && !at("]")) {
                bounds[n] = expression();
            }
        }
        need("]");
        return Nodes.slice(base, bounds);
    }

    private Eval filters(Eval start) throws Scanner.ScanException, Parser.ParseException {
        Eval value = start;
        while (true) {
            if (take("|")) {
                value = filter(value);
            } else if (take("is")) {
                value = test(value);
            } else if (at("(")) {
                value = Nodes.call(value, arguments());
            } else {
                return value;
            }
        }
    }

    /// {@return a filter applied to a value}
    ///
    /// @param value what is filtered
    Eval filter(Eval value) throws Scanner.ScanException, Parser.ParseException {
        String name = name();
        Callable filter = Filters.get(name);
        if (filter == null) {
            throw new TemplateFailure("there is no filter '" + name + "'");
        }
        return Nodes.filter(filter, value, at("(") ? arguments() : Nodes.NO_ARGUMENTS);
    }

    private Eval test(Eval value) throws Scanner.ScanException, Parser.ParseException {
        boolean negated = take("not");
        String name = at("==") || at("!=") || at("<") || at(">") || at("<=") || at(">=")
                ? consumeToken().getImage()
                : name();
        Callable test = TestFunctions.get(name);
        if (test == null) {
            throw new TemplateFailure("there is no test '" + name + "'");
        }
        Nodes.Arguments arguments = Nodes.NO_ARGUMENTS;
        if (at("(")) {
            arguments = arguments();
        } else if (startsOperand()) {
            arguments = Nodes.oneArgument(postfix(primary()));
        }
        return Nodes.test(test, value, arguments, negated);
    }

    private boolean startsOperand() {
        return switch (getToken().getSymbol()) {
            case STRING, INTEGER, FLOAT -> true;
            default ->
                at("[")
                        || at("{")
                        || (isName(getToken())
                                && !at("and")
                                && !at("or")
                                && !at("not")
                                && !at("else")
                                && !at("if")
                                && !at("is")
                                && !at("in")
                                && !at("recursive"));
        };
    }

    /// {@return the arguments of a call, from bracket to bracket}
    Nodes.Arguments arguments() throws Scanner.ScanException, Parser.ParseException {
        need("(");
        Nodes.Arguments arguments = new Nodes.Arguments();
        while (!at(")")) {
            if (take("*")) {
                arguments.spread(expression());
            } else if (take("**")) {
                arguments.spreadNamed(expression());
            } else if (isName(getToken()) && "=".equals(lookahead(0).getImage())) {
                String name = name();
                need("=");
                arguments.named(name, expression());
            } else {
                arguments.positional(expression());
            }
            if (!take(",")) {
                break;
            }
        }
        need(")");
        return arguments;
    }
}
