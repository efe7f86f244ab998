package dev.tenon.platform.cli.terminal;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/// How many typing errors lie between two words.
public final class EditDistance {
    private EditDistance() {}

    /// {@return a question for the names that a word may stand for, with a space before it; empty
    ///     if there are none}
    ///
    /// @param word what was typed
    /// @param names what could have been typed
    public static String suggestion(String word, Collection<String> names) {
        List<String> near = names.stream()
                .filter(n -> of(n, word) <= 2 || word.length() > 4 && n.startsWith(word))
                .sorted(Comparator.comparingInt((String n) -> of(n, word)).thenComparing(n -> n))
                .limit(3)
                .toList();
        return near.isEmpty() ? "" : " Did you mean " + String.join(" or ", near) + "?";
    }

    /// {@return the number of letters to insert, delete, replace or swap with their neighbour
    ///     (Damerau-Levenshtein, restricted)}
    ///
    /// @param a a word
    /// @param b another word
    static int of(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int replace = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                d[i][j] = Math.min(replace, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
