package dev.tenon.platform.core.text;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/// Finds special tokens that are written out in a text.
///
/// The longest token goes first, wherever in the text it is; among tokens of one length the leftmost.
/// Immutable.
final class SpecialTokens {
    /// Where special tokens are in a text: `ids[i]` at chars `from[i]` to `to[i]`, ascending, without
    /// overlap.
    record Found(int[] ids, int[] from, int[] to) {
        static final Found NONE = new Found(new int[0], new int[0], new int[0]);
    }

    /// Which tokens count where.
    @FunctionalInterface
    interface Filter {
        /// {@return whether a token counts}
        ///
        /// @param id the token
        /// @param from its first char
        /// @param to char after its last
        boolean accepts(int id, int from, int to);
    }

    private final Map<String, Integer> byText = new HashMap<>();
    private final BitSet firstChars = new BitSet();
    private final int[] lengths; // distinct, longest first

    /// Indexes tokens.
    ///
    /// @param texts token texts by id
    /// @param ids the special ones; empty texts are left out, and of several with one text all but the first
    SpecialTokens(String[] texts, IntList ids) {
        BitSet byLength = new BitSet();
        for (int i = 0; i < ids.size(); i++) {
            String text = texts[ids.get(i)];
            if (!text.isEmpty()) {
                byText.putIfAbsent(text, ids.get(i));
                firstChars.set(text.charAt(0));
                byLength.set(text.length());
            }
        }
        lengths = new int[byLength.cardinality()];
        int at = lengths.length;
        for (int length = byLength.nextSetBit(0); length >= 0; length = byLength.nextSetBit(length + 1)) {
            lengths[--at] = length;
        }
    }

    /// Finds the tokens in a text, in time proportional to its length times the number of distinct token
    /// lengths.
    ///
    /// @param text any text
    /// @return what was found
    Found find(String text) {
        return find(text, (id, from, to) -> true);
    }

    /// Finds the tokens that count.
    ///
    /// @param text any text
    /// @param filter which ones do
    /// @return what was found
    Found find(String text, Filter filter) {
        int[] candidates = candidates(text);
        if (candidates.length == 0) {
            return Found.NONE;
        }
        int[] idAt = new int[candidates.length];
        int[] toAt = new int[candidates.length]; // 0 where no token begins
        BitSet taken = new BitSet();
        int found = 0;
        for (int length : lengths) {
            for (int i = 0; i < candidates.length; i++) {
                int from = candidates[i];
                int to = from + length;
                if (to > text.length()) {
                    break;
                }
                if (taken.get(from) || taken.get(to - 1)) {
                    continue; // what was placed before is at least as long, so an overlap covers one of the ends
                }
                Integer id = byText.get(text.substring(from, to));
                if (id != null && filter.accepts(id, from, to)) {
                    idAt[i] = id;
                    toAt[i] = to;
                    taken.set(from, to);
                    found++;
                }
            }
        }
        return collect(candidates, idAt, toAt, found);
    }

    private static Found collect(int[] candidates, int[] idAt, int[] toAt, int found) {
        Found result = new Found(new int[found], new int[found], new int[found]);
        int at = 0;
        for (int i = 0; i < candidates.length; i++) {
            if (toAt[i] > 0) {
                result.ids[at] = idAt[i];
                result.from[at] = candidates[i];
                result.to[at] = toAt[i];
                at++;
            }
        }
        return result;
    }

    private int[] candidates(String text) {
        if (lengths.length == 0) {
            return new int[0];
        }
        IntList at = new IntList(16);
        for (int i = 0; i < text.length(); i++) {
            if (firstChars.get(text.charAt(i))) {
                at.add(i);
            }
        }
        return at.toArray();
    }
}
