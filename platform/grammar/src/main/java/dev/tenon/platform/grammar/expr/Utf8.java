package dev.tenon.platform.grammar.expr;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Expressions of one character in UTF-8.
public final class Utf8 {
    private static final int[] FIRST = {0, 0x80, 0x800, 0x10000};
    private static final int[] LAST = {0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
    private static final int[] LEAD = {0x00, 0xC0, 0xE0, 0xF0};
    private static final int CONTINUATION = 0x80;

    private Utf8() {}

    /// {@return one character of a set}
    ///
    /// @param pool makes the expression
    /// @param set the characters
    public static Expr of(ExprPool pool, CodePoints set) {
        List<Expr> lengths = new ArrayList<>();
        for (int tail = 0; tail < 4; tail++) {
            lengths.add(tree(pool, cut(set.ranges(), FIRST[tail], LAST[tail]), LEAD[tail], tail));
        }
        return pool.or(lengths);
    }

    private static List<CodePoints.Range> cut(List<CodePoints.Range> ranges, int from, int to) {
        List<CodePoints.Range> cut = new ArrayList<>();
        for (CodePoints.Range range : ranges) {
            if (range.from() <= to && range.to() >= from) {
                cut.add(new CodePoints.Range(Math.max(range.from(), from), Math.min(range.to(), to)));
            }
        }
        return cut;
    }

    /// {@return a byte that begins some of the ranges, and what follows it; bytes with the same
    ///     continuation become one set}
    ///
    /// @param ranges code points of one length
    /// @param mark the bits of the byte that tell what it is
    /// @param tail how many bytes follow it
    private static Expr tree(ExprPool pool, List<CodePoints.Range> ranges, int mark, int tail) {
        Map<Expr, ByteSet> byRest = new LinkedHashMap<>();
        pool.work().add(1 + ranges.size());
        int shift = 6 * tail;
        int done = -1;
        for (CodePoints.Range range : ranges) {
            for (int first = Math.max(range.from() >> shift, done + 1); first <= range.to() >> shift; first++) {
                done = first;
                int base = first << shift;
                int end = base + (1 << shift) - 1;
                int value = mark | (mark == CONTINUATION ? first & 0x3F : first);
                Expr rest = range.from() <= base && range.to() >= end
                        ? any(pool, tail)
                        : tree(pool, cut(ranges, base, end), CONTINUATION, tail - 1);
                byRest.merge(rest, ByteSet.range(value, value), ByteSet::or);
            }
        }
        return pool.or(byRest.entrySet().stream()
                .map(each -> pool.concat(pool.bytes(each.getValue()), each.getKey()))
                .toList());
    }

    private static Expr any(ExprPool pool, int tail) {
        return pool.repeat(pool.bytes(0x80, 0xBF), tail, tail);
    }
}
