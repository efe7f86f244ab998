package dev.tenon.kernels.x86.layout;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.Columns;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/// Unpacks levels of a span by columns, where each four neighbours lie in four bytes at the same bits.
///
/// Sixteen bytes of each row are four columns. Those of the wider piece are loaded once and give all levels that have
/// a part in them; those of the other piece, if there is one, are kept in registers meanwhile.
final class ColumnCode {
    private static final int COLUMNS = 4;
    private static final int BYTES = COLUMNS * Integer.BYTES;
    private static final int KEPT = 10;

    /// Four neighbouring levels.
    ///
    /// @param level the first
    /// @param column where their bytes are among those that are loaded
    /// @param other the same for the other piece; -1 without one
    private record Four(int level, int column, int other) {}

    /// What is loaded together, and what comes out of it.
    ///
    /// @param other where the bytes of the other piece are loaded from; -1 without one
    /// @param from where those of the wider piece are
    private record Load(int other, int from, List<Four> fours) {}

    private final Plane wide;
    private final Plane other;
    private final List<Load> loads;
    private final int[] table;

    private ColumnCode(Plane wide, Plane other, List<Load> loads, int[] table) {
        this.wide = wide;
        this.other = other;
        this.loads = loads;
        this.table = table;
    }

    /// {@return the code for a layout; null if its levels do not lie so}
    ///
    /// @param table levels of the code book, or null
    static ColumnCode of(List<Plane> planes, int spanBytes, int[] table) {
        boolean inDwords = planes.stream().allMatch(plane -> plane.inDwords(0, BlockCode.SPAN));
        if (!inDwords || planes.size() > 2 || spanBytes < BYTES) {
            return null;
        }
        Plane wide = planes.getFirst();
        Plane other = planes.size() == 1 ? null : planes.getLast();
        if (other != null && other.width() > wide.width()) {
            return of(planes.reversed(), spanBytes, table);
        }
        List<Integer> starts = starts(wide, spanBytes);
        List<Integer> others = other == null ? List.of(-1) : starts(other, spanBytes);
        TreeMap<Integer, TreeMap<Integer, List<Four>>> byPlace = new TreeMap<>();
        for (int level = 0; level < BlockCode.SPAN; level += Integer.BYTES) {
            int from = start(starts, wide.at(level));
            int second = other == null ? -1 : start(others, other.at(level));
            if (from < 0 || other != null && second < 0) {
                return null;
            }
            byPlace.computeIfAbsent(second, _ -> new TreeMap<>())
                    .computeIfAbsent(from, _ -> new ArrayList<>())
                    .add(new Four(
                            level,
                            (wide.at(level) - from) / Integer.BYTES,
                            other == null ? -1 : (other.at(level) - second) / Integer.BYTES));
        }
        List<Load> loads = new ArrayList<>();
        byPlace.forEach((second, byFrom) -> byFrom.forEach((from, fours) -> loads.add(new Load(second, from, fours))));
        return new ColumnCode(wide, other, loads, table);
    }

    /// Where sixteen bytes each are loaded from, such that they have all pieces.
    private static List<Integer> starts(Plane plane, int spanBytes) {
        List<Integer> starts = new ArrayList<>();
        int end = -1;
        int[] at = new int[BlockCode.SPAN / Integer.BYTES];
        for (int i = 0; i < at.length; i++) {
            at[i] = plane.at(Integer.BYTES * i);
        }
        Arrays.sort(at);
        for (int byteAt : at) {
            if (byteAt + Integer.BYTES > end) {
                int start = Math.min(byteAt, spanBytes - BYTES);
                starts.add(start);
                end = start + BYTES;
            }
        }
        return starts;
    }

    /// The load that has the four bytes at a place as one of its columns; -1 if none has.
    private static int start(List<Integer> starts, int at) {
        for (int start : starts) {
            if (at >= start && at + Integer.BYTES <= start + BYTES && (at - start) % Integer.BYTES == 0) {
                return start;
            }
        }
        return -1;
    }

    /// Emits the code, with registers 0 to 14.
    void emit(Assembler a, Columns span, Constants constants) {
        Vec t = span.vec(8);
        Vec u = span.vec(9);
        int kept = -1;
        for (Load load : loads) {
            if (load.other != kept) {
                span.load(load.other);
                for (int i = 0; i < COLUMNS; i++) {
                    a.vmovdqu(span.vec(KEPT + i), span.vec(i));
                }
                kept = load.other;
            }
            span.load(load.from);
            for (Four four : load.fours) {
                emitPiece(a, wide, four.level, span.vec(four.column), t);
                a.vpand(t, t, constants.of(a, t, wide.mask()));
                if (other != null) {
                    emitPiece(a, other, four.level, span.vec(KEPT + four.other), u);
                    span.or(t, u, constants.of(a, u, other.mask()), u);
                }
                if (table != null) {
                    Operand book = constants.of(a, t, i -> table[i & 3]);
                    if (!(book instanceof Vec)) {
                        a.vmovdqu(u, book);
                    }
                    a.vpshufb(t, book instanceof Vec v ? v : u, t);
                }
                span.levels(four.level, t);
            }
        }
    }

    private static void emitPiece(Assembler a, Plane plane, int level, Vec from, Vec to) {
        int distance = plane.distance(level);
        if (distance > 0) {
            a.vpsrld(to, from, distance);
        } else if (distance < 0) {
            a.vpslld(to, from, -distance);
        } else {
            a.vmovdqu(to, from);
        }
    }
}
