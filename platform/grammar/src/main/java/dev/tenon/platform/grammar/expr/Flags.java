package dev.tenon.platform.grammar.expr;

import dev.tenon.platform.grammar.expr.Expr.Answer;

/// Finds out of an expression's parts whether the empty text, and whether any text, belongs to it.
final class Flags {
    private Flags() {}

    /// Sets both flags of an expression whose parts have theirs.
    static void set(Expr e) {
        e.nullable = nullable(e);
        e.alive = alive(e);
    }

    static boolean nullable(Expr e) {
        return switch (e.kind) {
            case NOTHING, BYTES -> false;
            case EMPTY -> true;
            case CONCAT -> e.parts[0].nullable && e.parts[1].nullable;
            case OR -> any(e);
            case AND -> every(e);
            case NOT -> !e.parts[0].nullable;
            case REPEAT -> e.min == 0 || e.parts[0].nullable;
            case MULTIPLE -> e.max == 0;
            case CALL -> e.rule.nullable;
        };
    }

    private static boolean any(Expr e) {
        for (Expr part : e.parts) {
            if (part.nullable) {
                return true;
            }
        }
        return false;
    }

    private static boolean every(Expr e) {
        for (Expr part : e.parts) {
            if (!part.nullable) {
                return false;
            }
        }
        return true;
    }

    /// {@return what the parts tell; unknown for intersections and complements}
    static Answer alive(Expr e) {
        return switch (e.kind) {
            case NOTHING -> Answer.NO;
            case EMPTY, BYTES, MULTIPLE -> Answer.YES;
            case CONCAT -> both(e.parts[0].alive, e.parts[1].alive);
            case OR -> either(e);
            case AND, NOT -> e.nullable ? Answer.YES : Answer.UNKNOWN;
            case REPEAT -> e.min == 0 ? Answer.YES : e.parts[0].alive;
            case CALL -> e.rule.productive ? Answer.YES : Answer.NO;
        };
    }

    private static Answer both(Answer a, Answer b) {
        if (a == Answer.NO || b == Answer.NO) {
            return Answer.NO;
        }
        return a == Answer.YES && b == Answer.YES ? Answer.YES : Answer.UNKNOWN;
    }

    private static Answer either(Expr e) {
        Answer answer = Answer.NO;
        for (Expr part : e.parts) {
            if (part.alive == Answer.YES) {
                return Answer.YES;
            }
            answer = part.alive == Answer.UNKNOWN ? Answer.UNKNOWN : answer;
        }
        return answer;
    }
}
