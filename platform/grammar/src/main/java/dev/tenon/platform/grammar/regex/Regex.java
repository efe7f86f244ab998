package dev.tenon.platform.grammar.regex;

import dev.tenon.platform.grammar.expr.CodePoints;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.Utf8;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Makes expressions of regular expressions.
public final class Regex {
    private final ExprPool pool;
    private final String source;
    private final Function<CodePoints, Expr> encoding;

    private Regex(ExprPool pool, String source, Function<CodePoints, Expr> encoding) {
        this.pool = pool;
        this.source = source;
        Map<CodePoints, Expr> known = new HashMap<>();
        this.encoding = set -> {
            pool.work().add(1 + set.edgeCount() / 16);
            return known.computeIfAbsent(set, encoding);
        };
    }

    /// Texts of one alternative, and whether they have to be at the start and the end.
    private record Anchored(boolean start, Expr expr, boolean end) {}

    /// {@return the texts that match as a whole}
    ///
    /// @param pool makes the expression
    /// @param source the regular expression
    /// @throws GrammarException (`GRAMMAR-001`) if it does not parse, (`GRAMMAR-002`) if it looks
    ///     around
    public static Expr whole(ExprPool pool, String source) {
        Regex regex = new Regex(pool, source, set -> Utf8.of(pool, set));
        return pool.or(regex.alternatives(new RegexParser(source, pool).parse()).stream()
                .map(Anchored::expr)
                .toList());
    }

    /// {@return the texts in which it matches somewhere}
    ///
    /// @param pool makes the expression
    /// @param source the regular expression
    /// @param encoding how one character of a set is written
    /// @throws GrammarException (`GRAMMAR-001`) if it does not parse, (`GRAMMAR-002`) if it looks
    ///     around
    public static Expr search(ExprPool pool, String source, Function<CodePoints, Expr> encoding) {
        Regex regex = new Regex(pool, source, encoding);
        Expr anything = pool.repeat(encoding.apply(CodePoints.ALL), 0, Expr.UNBOUNDED);
        List<Expr> exprs = new ArrayList<>();
        for (Anchored each : regex.alternatives(new RegexParser(source, pool).parse())) {
            exprs.add(pool.concat(
                    each.start() ? pool.empty() : anything, each.expr(), each.end() ? pool.empty() : anything));
        }
        return pool.or(exprs);
    }

    private List<Anchored> alternatives(RegexNode node) {
        return switch (node) {
            case RegexNode.Chars(CodePoints set) -> List.of(new Anchored(false, encoding.apply(set), false));
            case RegexNode.Anchor(boolean start) -> List.of(new Anchored(start, pool.empty(), !start));
            case RegexNode.Choice(List<RegexNode> parts) ->
                merged(parts.stream()
                        .flatMap(part -> alternatives(part).stream())
                        .toList());
            case RegexNode.Sequence(List<RegexNode> parts) -> {
                List<Anchored> all = List.of(new Anchored(false, pool.empty(), false));
                for (RegexNode part : parts.reversed()) {
                    all = joined(alternatives(part), all);
                }
                yield all;
            }
            case RegexNode.Repeat repeat -> List.of(repeated(repeat));
        };
    }

    private Anchored repeated(RegexNode.Repeat repeat) {
        List<Anchored> parts = alternatives(repeat.part());
        if (parts.stream().anyMatch(each -> each.start() || each.end())) {
            throw GrammarException.unsupported("Regular expression '" + source
                    + "' repeats '^' or '$'; masks cannot enforce it. Write it without.");
        }
        Expr part = pool.or(parts.stream().map(Anchored::expr).toList());
        return new Anchored(false, pool.repeat(part, repeat.min(), repeat.max()), false);
    }

    /// Joins alternatives: what stands before `^` or after `$` has to be empty.
    private List<Anchored> joined(List<Anchored> first, List<Anchored> second) {
        List<Anchored> all = new ArrayList<>();
        for (Anchored a : first) {
            for (Anchored b : second) {
                Expr before = b.start() ? onlyEmpty(a.expr()) : a.expr();
                Expr after = a.end() ? onlyEmpty(b.expr()) : b.expr();
                Expr expr = pool.concat(before, after);
                if (!expr.isNothing()) {
                    all.add(new Anchored(a.start() || b.start(), expr, a.end() || b.end()));
                }
            }
        }
        return merged(all);
    }

    private Expr onlyEmpty(Expr expr) {
        return pool.and(expr, pool.empty());
    }

    private List<Anchored> merged(List<Anchored> alternatives) {
        List<Anchored> merged = new ArrayList<>();
        for (boolean start : new boolean[] {false, true}) {
            for (boolean end : new boolean[] {false, true}) {
                Expr expr = pool.or(alternatives.stream()
                        .filter(each -> each.start() == start && each.end() == end)
                        .map(Anchored::expr)
                        .toList());
                if (!expr.isNothing()) {
                    merged.add(new Anchored(start, expr, end));
                }
            }
        }
        return merged;
    }
}
