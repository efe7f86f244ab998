package dev.tenon.platform.grammar.expr;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What remains of expressions after one character of a slice, where that is the same for all of
/// them.
///
/// It is put together of what remains of the parts. With characters of several bytes this holds
/// where no part of a character is a text of its own; elsewhere the answer is that it depends. Not
/// safe for several threads.
final class SliceDerivatives {
    private final ExprPool pool;
    private final Derivatives derivatives;
    private final int[][][] groups;
    /// Null where it depends on the character.
    private final Map<Expr, Expr> known = new HashMap<>();

    SliceDerivatives(ExprPool pool, Derivatives derivatives, Slice slice) {
        this.pool = pool;
        this.derivatives = derivatives;
        this.groups = slice.classes(derivatives::classOf);
    }

    void forget() {
        known.clear();
    }

    /// {@return what remains; null if it depends on the character}
    Expr next(Expr e) {
        Expr next = known.get(e);
        if (next == null && !known.containsKey(e)) {
            next = derive(e);
            known.put(e, next);
        }
        return next;
    }

    private Expr derive(Expr e) {
        pool.work().add(2);
        return switch (e.kind) {
            case CONCAT -> concat(e);
            case OR -> {
                Expr[] parts = parts(e);
                yield parts == null ? byCharacter(e) : pool.or(Arrays.asList(parts));
            }
            case AND -> {
                Expr[] parts = parts(e);
                yield parts == null ? null : pool.and(parts);
            }
            case REPEAT -> {
                Expr part = next(e.parts[0]);
                yield part == null ? null : pool.concat(part, derivatives.less(e));
            }
            default -> byCharacter(e);
        };
    }

    private Expr concat(Expr e) {
        List<Expr> terms = new ArrayList<>();
        Expr rest = e;
        while (rest.kind == Expr.Kind.CONCAT) {
            Expr first = next(rest.parts[0]);
            if (first == null) {
                return null;
            }
            terms.add(pool.concat(first, rest.parts[1]));
            if (!rest.parts[0].nullable) {
                return pool.or(terms);
            }
            rest = rest.parts[1];
        }
        Expr last = next(rest);
        if (last == null) {
            return null;
        }
        terms.add(last);
        return pool.or(terms);
    }

    /// {@return what remains of each part; null if that depends}
    private Expr[] parts(Expr e) {
        Expr[] parts = new Expr[e.parts.length];
        boolean whole = false;
        for (int i = 0; i < parts.length; i++) {
            Expr part = e.parts[i];
            // Parts of characters are texts of a complement, but not of its intersection with another part.
            boolean not = e.kind == Expr.Kind.AND && part.kind == Expr.Kind.NOT;
            Expr next = next(not ? part.parts[0] : part);
            if (next == null) {
                return null;
            }
            parts[i] = not ? pool.not(next) : next;
            whole |= !not;
        }
        return whole ? parts : null;
    }

    private Expr byCharacter(Expr e) {
        Expr only = null;
        for (int[][] group : groups) {
            Set<Expr> level = Set.of(e);
            for (int i = 0; i < group.length; i++) {
                Set<Expr> next = new HashSet<>();
                for (Expr each : level) {
                    pool.work().add(group[i].length);
                    for (int c : group[i]) {
                        next.add(derivatives.next(each, c));
                    }
                }
                if (i < group.length - 1 && next.stream().anyMatch(Expr::isNullable)) {
                    return null;
                }
                level = next;
            }
            Expr last = level.iterator().next();
            if (level.size() > 1 || only != null && only != last) {
                return null;
            }
            only = last;
        }
        return only;
    }
}
