package dev.tenon.platform.templates;

import dev.tenon.platform.templates.Token.Kind;
import dev.tenon.platform.templates.values.TemplateFailure;
import java.util.List;

/// The tokens of a template, read one after the other.
final class Tokens {
    private static final int MAX_NESTING = 200;

    private final String in;
    private final List<Token> tokens;
    private int at;
    private int nesting;

    /// Reads a normalized template.
    Tokens(String in) {
        this.in = in;
        tokens = Lexer.read(in);
    }

    /// {@return the next token}
    Token peek() {
        return tokens.get(at);
    }

    /// {@return whether the next token is of a kind}
    boolean at(Kind kind) {
        return peek().kind() == kind;
    }

    /// {@return whether the next token is this name or operator}
    boolean at(String text) {
        return is(peek(), text);
    }

    /// {@return whether the token after the next one is this name or operator}
    boolean then(String text) {
        return is(tokens.get(Math.min(at + 1, tokens.size() - 1)), text);
    }

    private static boolean is(Token token, String text) {
        return (token.kind() == Kind.NAME || token.kind() == Kind.OPERATOR)
                && token.text().equals(text);
    }

    /// {@return the text of the next token, which is taken}
    String next() {
        return tokens.get(at++).text();
    }

    /// {@return whether the next token was this name or operator, and was taken}
    boolean take(String text) {
        boolean found = at(text);
        at += found ? 1 : 0;
        return found;
    }

    /// Takes this name or operator, which must be next.
    void need(String text) {
        if (!take(text)) {
            throw expected("'" + text + "'");
        }
    }

    /// {@return the text of the next token, which must be of a kind and is taken}
    String need(Kind kind, String what) {
        if (!at(kind)) {
            throw expected(what);
        }
        return next();
    }

    /// {@return the next token, which must be a name and is taken}
    String name() {
        return need(Kind.NAME, "a name");
    }

    /// {@return a failure at the next token}
    TemplateFailure expected(String what) {
        Token token = peek();
        String found = token.text().isEmpty() ? "the end" : "'" + token.text() + "'";
        return failure("expected " + what + ", found " + found);
    }

    /// {@return a failure in the line of the next token}
    TemplateFailure failure(String text) {
        return Lexer.failure(in, peek().position(), text);
    }

    /// Enters an expression or body inside another; [#leave()] follows.
    void enter() {
        if (++nesting > MAX_NESTING) {
            throw failure("it is nested more than " + MAX_NESTING + " levels deep");
        }
    }

    /// Leaves what [#enter()] entered.
    void leave() {
        nesting--;
    }
}
