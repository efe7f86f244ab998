package dev.tenon.platform.grammar.expr;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A set of Unicode code points without surrogates. Immutable.
public final class CodePoints {
    private static final CodePoints SURROGATES =
            new CodePoints(new int[] {Character.MIN_SURROGATE, Character.MAX_SURROGATE + 1});
    /// All code points.
    public static final CodePoints ALL = range(0, Character.MAX_CODE_POINT);

    /// Where the set begins and ends in turn, ascending: the first code point of a range, and the
    /// one after its last.
    private final int[] edges;

    private CodePoints(int[] edges) {
        this.edges = edges;
    }

    /// A range of code points.
    ///
    /// @param from the first
    /// @param to the last
    public record Range(int from, int to) {}

    /// {@return the code points of a range}
    ///
    /// @param from the first
    /// @param to the last, not before the first
    public static CodePoints range(int from, int to) {
        return new CodePoints(new int[] {from, to + 1}).minus(SURROGATES);
    }

    /// {@return the code points of a text}
    ///
    /// @param text its characters
    public static CodePoints of(String text) {
        CodePoints set = new CodePoints(new int[0]);
        for (int c : text.codePoints().toArray()) {
            set = set.or(range(c, c));
        }
        return set;
    }

    /// {@return the code points of ranges}
    ///
    /// @param ranges ascending, with a gap between each and the next one
    public static CodePoints of(List<Range> ranges) {
        int[] edges = new int[2 * ranges.size()];
        for (int i = 0; i < ranges.size(); i++) {
            edges[2 * i] = ranges.get(i).from();
            edges[2 * i + 1] = ranges.get(i).to() + 1;
        }
        return new CodePoints(edges).minus(SURROGATES);
    }

    /// {@return what is in this set or in another one}
    ///
    /// @param other the other set
    public CodePoints or(CodePoints other) {
        return merged(other, true);
    }

    /// {@return what is in this set and not in another one}
    ///
    /// @param other the other set
    public CodePoints minus(CodePoints other) {
        return merged(other, false);
    }

    private CodePoints merged(CodePoints other, boolean union) {
        int[] merged = new int[edges.length + other.edges.length];
        int size = 0;
        int i = 0;
        int j = 0;
        while (i < edges.length || j < other.edges.length) {
            int mine = i < edges.length ? edges[i] : Integer.MAX_VALUE;
            int its = j < other.edges.length ? other.edges[j] : Integer.MAX_VALUE;
            int at = Math.min(mine, its);
            i += mine == at ? 1 : 0;
            j += its == at ? 1 : 0;
            boolean in = union ? isOdd(i) || isOdd(j) : isOdd(i) && !isOdd(j);
            if (in != isOdd(size)) {
                merged[size++] = at;
            }
        }
        return new CodePoints(Arrays.copyOf(merged, size));
    }

    private static boolean isOdd(int count) {
        return (count & 1) != 0;
    }

    /// {@return what is not in this set}
    public CodePoints complement() {
        return ALL.minus(this);
    }

    /// {@return whether a code point is in the set}
    ///
    /// @param codePoint the code point
    public boolean contains(int codePoint) {
        int at = Arrays.binarySearch(edges, codePoint);
        return at >= 0 ? !isOdd(at) : isOdd(-at - 1);
    }

    /// {@return how many ranges it has, twice: its operations take so long}
    public int edgeCount() {
        return edges.length;
    }

    /// {@return whether nothing is in the set}
    public boolean isEmpty() {
        return edges.length == 0;
    }

    /// {@return the set as ranges, ascending}
    public List<Range> ranges() {
        List<Range> ranges = new ArrayList<>(edges.length / 2);
        for (int i = 0; i < edges.length; i += 2) {
            ranges.add(new Range(edges[i], edges[i + 1] - 1));
        }
        return ranges;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof CodePoints set && Arrays.equals(edges, set.edges);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(edges);
    }
}
