package dev.tenon.platform.grammar.expr;

/// A named expression, which expressions can refer to, its own included. Made by an [ExprPool].
public final class Rule {
    private final String name;
    private Expr body;
    boolean nullable;
    boolean productive;
    private int rank;

    Rule(String name) {
        this.name = name;
    }

    /// {@return its name, for messages}
    public String name() {
        return name;
    }

    /// {@return what it stands for; null until it is defined}
    public Expr body() {
        return body;
    }

    /// Defines what it stands for.
    ///
    /// @param expr an expression of the same pool
    public void define(Expr expr) {
        body = expr;
    }

    /// {@return its place in an order in which a rule comes before those that its texts begin with;
    ///     of a closed pool}
    public int rank() {
        return rank;
    }

    void rank(int place) {
        rank = place;
    }
}
