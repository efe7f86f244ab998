package dev.tenon.platform.grammar.expr;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;

/// A set of Unicode code points without surrogates. Immutable.
public final class CodePoints {
    /// All code points.
    public static final CodePoints ALL = range(0, Character.MAX_CODE_POINT);

    private static final int FIRST_SURROGATE = 0xD800;
    private static final int LAST_SURROGATE = 0xDFFF;

    private final BitSet bits;

    private CodePoints(BitSet bits) {
        bits.clear(FIRST_SURROGATE, LAST_SURROGATE + 1);
        this.bits = bits;
    }

    /// A range of code points.
    ///
    /// @param from the first
    /// @param to the last
    public record Range(int from, int to) {}

    /// {@return the code points of a range}
    ///
    /// @param from the first
    /// @param to the last
    public static CodePoints range(int from, int to) {
        BitSet bits = new BitSet();
        bits.set(from, to + 1);
        return new CodePoints(bits);
    }

    /// {@return the code points of a text}
    ///
    /// @param text its characters
    public static CodePoints of(String text) {
        BitSet bits = new BitSet();
        text.codePoints().forEach(bits::set);
        return new CodePoints(bits);
    }

    /// {@return the code points that have a property}
    ///
    /// @param property the property
    public static CodePoints where(IntPredicate property) {
        BitSet bits = new BitSet();
        for (int i = 0; i <= Character.MAX_CODE_POINT; i++) {
            if (property.test(i)) {
                bits.set(i);
            }
        }
        return new CodePoints(bits);
    }

    /// {@return what is in this set or in another one}
    ///
    /// @param other the other set
    public CodePoints or(CodePoints other) {
        BitSet union = (BitSet) bits.clone();
        union.or(other.bits);
        return new CodePoints(union);
    }

    /// {@return what is in this set and not in another one}
    ///
    /// @param other the other set
    public CodePoints minus(CodePoints other) {
        BitSet rest = (BitSet) bits.clone();
        rest.andNot(other.bits);
        return new CodePoints(rest);
    }

    /// {@return what is not in this set}
    public CodePoints complement() {
        return ALL.minus(this);
    }

    /// {@return whether a code point is in the set}
    ///
    /// @param codePoint the code point
    public boolean contains(int codePoint) {
        return bits.get(codePoint);
    }

    /// {@return whether nothing is in the set}
    public boolean isEmpty() {
        return bits.isEmpty();
    }

    /// {@return the set as ranges, ascending}
    public List<Range> ranges() {
        List<Range> ranges = new ArrayList<>();
        for (int from = bits.nextSetBit(0); from >= 0; ) {
            int to = bits.nextClearBit(from) - 1;
            ranges.add(new Range(from, to));
            from = bits.nextSetBit(to + 1);
        }
        return ranges;
    }
}
