package dev.tenon.platform.grammar.gbnf;

import dev.tenon.platform.grammar.expr.CodePoints;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.Rule;
import dev.tenon.platform.grammar.expr.Utf8;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Parses a grammar in GBNF: rules `name ::= alternatives` of texts in quotes, sets in brackets,
/// `.`, names and groups, repeated by `*`, `+`, `?` and `{m,n}`. Tokens (`<name>`, `<[id]>`) are
/// refused, and rules that begin with themselves.
public final class GbnfParser {
    private static final int MOST_REPEATS = 100_000;

    private final ExprPool pool;
    private final String source;
    private final Map<String, Rule> rules = new LinkedHashMap<>();
    private int at;
    private int depth;

    private GbnfParser(ExprPool pool, String source) {
        this.pool = pool;
        this.source = source;
    }

    /// {@return the texts of the rule `root`}
    ///
    /// @param pool makes the expressions
    /// @param source the grammar
    /// @throws GrammarException (`GRAMMAR-001`) if it does not parse, (`GRAMMAR-002`) if it has
    ///     tokens
    public static Expr parse(ExprPool pool, String source) {
        pool.limits().checkLength("grammar", source);
        return new GbnfParser(pool, source).parse();
    }

    private Expr parse() {
        space(true);
        while (at < source.length()) {
            rule();
        }
        for (Rule rule : rules.values()) {
            if (rule.body() == null) {
                throw GrammarException.syntax("The grammar has no rule '" + rule.name() + "', which it refers to.");
            }
        }
        Rule root = rules.get("root");
        if (root == null) {
            throw GrammarException.syntax("The grammar has no rule 'root', with which texts begin.");
        }
        return pool.call(root);
    }

    private void rule() {
        Rule rule = named(name());
        space(true);
        if (!source.startsWith("::=", at)) {
            throw syntax("expected '::='");
        }
        at += 3;
        space(true);
        if (rule.body() != null) {
            throw syntax("rule '" + rule.name() + "' is defined twice");
        }
        rule.define(alternatives(false));
        if (at < source.length() && peek() != '\n' && peek() != '\r') {
            throw syntax("found '" + peek() + "', expected the end of the line");
        }
        space(true);
    }

    private Rule named(String name) {
        return rules.computeIfAbsent(name, pool::rule);
    }

    private String name() {
        int from = at;
        while (at < source.length() && isName(peek())) {
            at++;
        }
        if (at == from) {
            throw syntax("expected a rule's name");
        }
        return source.substring(from, at);
    }

    private static boolean isName(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_';
    }

    private Expr alternatives(boolean nested) {
        pool.limits().checkNesting("grammar", ++depth);
        List<Expr> parts = new ArrayList<>(List.of(sequence(nested)));
        while (at < source.length() && peek() == '|') {
            at++;
            space(true);
            parts.add(sequence(nested));
        }
        depth--;
        return pool.or(parts);
    }

    private Expr sequence(boolean nested) {
        List<Expr> parts = new ArrayList<>();
        while (at < source.length()) {
            Expr item = item(nested);
            if (item == null) {
                break;
            }
            parts.add(repeated(item, nested));
        }
        return pool.concat(parts.toArray(Expr[]::new));
    }

    /// {@return the next item, or null at the end of the sequence}
    private Expr item(boolean nested) {
        char c = peek();
        if (c == '"') {
            Expr literal = quoted();
            space(nested);
            return literal;
        }
        if (c == '[') {
            Expr set = set();
            space(nested);
            return set;
        }
        if (c == '(') {
            at++;
            space(true);
            Expr group = alternatives(true);
            if (at == source.length() || peek() != ')') {
                throw syntax("'(' without ')'");
            }
            at++;
            space(nested);
            return group;
        }
        if (c == '.') {
            at++;
            space(nested);
            return Utf8.of(pool, CodePoints.ALL);
        }
        if (isName(c)) {
            Expr call = pool.call(named(name()));
            space(nested);
            return call;
        }
        if (c == '<' || c == '!') {
            throw GrammarException.unsupported(
                    "The grammar names a token, at " + place() + ". Write the token's text in quotes.");
        }
        return null;
    }

    private Expr repeated(Expr item, boolean nested) {
        Expr result = item;
        while (at < source.length() && "*+?{".indexOf(peek()) >= 0) {
            char c = source.charAt(at++);
            int min = c == '+' ? 1 : 0;
            int max = c == '?' ? 1 : Expr.UNBOUNDED;
            if (c == '{') {
                space(nested);
                min = count();
                space(nested);
                max = min;
                if (at < source.length() && peek() == ',') {
                    at++;
                    space(nested);
                    max = at < source.length() && peek() == '}' ? Expr.UNBOUNDED : count();
                    space(nested);
                }
                if (at == source.length() || peek() != '}' || max < min) {
                    throw syntax("expected '{m}', '{m,}' or '{m,n}'");
                }
                at++;
            }
            space(nested);
            result = pool.repeat(result, min, max);
        }
        return result;
    }

    private int count() {
        int from = at;
        long value = 0;
        while (at < source.length() && peek() >= '0' && peek() <= '9') {
            value = Math.min(10 * value + source.charAt(at++) - '0', Expr.UNBOUNDED);
        }
        if (at == from) {
            throw syntax("expected a number");
        }
        if (value > MOST_REPEATS) {
            throw GrammarException.limit("The grammar repeats " + source.substring(from, at) + " times; at most "
                    + MOST_REPEATS + " are allowed.");
        }
        return (int) value;
    }

    private Expr quoted() {
        at++;
        StringBuilder text = new StringBuilder();
        while (at < source.length() && peek() != '"') {
            text.appendCodePoint(character());
        }
        if (at == source.length()) {
            throw syntax("'\"' without its end");
        }
        at++;
        return pool.literal(text.toString());
    }

    private Expr set() {
        at++;
        boolean negated = at < source.length() && peek() == '^';
        at += negated ? 1 : 0;
        CodePoints set = CodePoints.of("");
        while (at < source.length() && peek() != ']') {
            int from = character();
            int to = from;
            if (at + 1 < source.length() && peek() == '-' && source.charAt(at + 1) != ']') {
                at++;
                to = character();
            }
            if (to < from) {
                throw syntax("a range whose end is before its start");
            }
            set = set.or(CodePoints.range(from, to));
            pool.work().add(set.edgeCount());
        }
        if (at == source.length()) {
            throw syntax("'[' without ']'");
        }
        at++;
        return Utf8.of(pool, negated ? set.complement() : set);
    }

    private int character() {
        int c = source.codePointAt(at);
        at += Character.charCount(c);
        if (c != '\\') {
            if (c == '\n') {
                throw syntax("a line that ends within a text or set");
            }
            return c;
        }
        if (at == source.length()) {
            throw syntax("'\\' at the end");
        }
        char escape = source.charAt(at++);
        return switch (escape) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'x' -> hex(2);
            case 'u' -> hex(4);
            case 'U' -> hex(8);
            case '\\', '"', '[', ']', '-', '^' -> escape;
            default -> throw syntax("unknown escape '\\" + escape + "'");
        };
    }

    private int hex(int digits) {
        long value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = at < source.length() ? Character.digit(source.charAt(at++), 16) : -1;
            if (digit < 0) {
                throw syntax("an escape needs " + digits + " hexadecimal digits");
            }
            value = 16 * value + digit;
        }
        if (value > Character.MAX_CODE_POINT || value >= 0xD800 && value <= 0xDFFF) {
            throw syntax("an escape of no character");
        }
        return (int) value;
    }

    /// Passes over blanks and comments.
    private void space(boolean lines) {
        while (at < source.length()) {
            char c = peek();
            if (c == '#') {
                int end = source.indexOf('\n', at);
                at = end < 0 ? source.length() : end;
            } else if (c == ' ' || c == '\t' || lines && (c == '\n' || c == '\r')) {
                at++;
            } else {
                return;
            }
        }
    }

    private char peek() {
        return source.charAt(at);
    }

    private String place() {
        int line = 1;
        int start = 0;
        for (int i = source.indexOf('\n'); i >= 0 && i < at; i = source.indexOf('\n', i + 1)) {
            line++;
            start = i + 1;
        }
        return "line " + line + ", column " + (at - start + 1);
    }

    private GrammarException syntax(String what) {
        return GrammarException.syntax("The grammar does not parse at " + place() + ": " + what + ".");
    }
}
