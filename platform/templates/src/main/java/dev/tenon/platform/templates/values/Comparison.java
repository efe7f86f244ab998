package dev.tenon.platform.templates.values;

import java.util.List;

/// Python's comparisons.
public enum Comparison {
    EQ("=="),
    NE("!="),
    LT("<"),
    LE("<="),
    GT(">"),
    GE(">="),
    IN("in"),
    NOT_IN("not in");

    private final String symbol;

    Comparison(String symbol) {
        this.symbol = symbol;
    }

    /// {@return how it is written}
    public String symbol() {
        return symbol;
    }

    /// {@return the outcome}
    public boolean holds(Budget budget, Object a, Object b) {
        return switch (this) {
            case EQ -> Values.equal(budget, a, b);
            case NE -> !Values.equal(budget, a, b);
            case LT -> order(budget, a, b) < 0;
            case LE -> order(budget, a, b) <= 0;
            case GT -> order(budget, a, b) > 0;
            case GE -> order(budget, a, b) >= 0;
            case IN -> Values.contains(budget, b, a);
            case NOT_IN -> !Values.contains(budget, b, a);
        };
    }

    /// {@return negative, 0 or positive as a is less than, equal to or greater than b}
    int order(Budget budget, Object a, Object b) {
        budget.step(1);
        if (Numbers.is(a) && Numbers.is(b)) {
            return Numbers.order(a, b);
        }
        if (a instanceof String x && b instanceof String y) {
            return Text.compare(x, y);
        }
        if (a instanceof List<?> x && b instanceof List<?> y && a instanceof Tuple == b instanceof Tuple) {
            for (int i = 0; i < Math.min(x.size(), y.size()); i++) {
                if (!Values.equal(budget, x.get(i), y.get(i))) {
                    return order(budget, x.get(i), y.get(i));
                }
            }
            return Integer.compare(x.size(), y.size());
        }
        Values.used(a);
        Values.used(b);
        throw new TemplateFailure("'" + symbol + "' not supported between instances of '" + Values.type(a) + "' and '"
                + Values.type(b) + "'");
    }
}
