package dev.tenon.platform.core.sampling;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Looks for stop strings in streamed text and holds back what may become one.
///
/// The match that ends first wins, of two that end together the longer one, however the text is cut
/// into pieces. One Knuth-Morris-Pratt automaton a stop string, so the work for a character is
/// constant on average. Not safe for several threads.
public final class StopMatcher {
    private final List<String> stops;
    private final int[][] fallbacks;
    private final int[] matchedChars;
    private final StringBuilder held = new StringBuilder();
    private String matched;

    /// Makes a matcher.
    ///
    /// @param stops the stop strings; none may be empty
    /// @throws IllegalArgumentException if a stop string is empty
    public StopMatcher(List<String> stops) {
        this.stops = List.copyOf(stops);
        fallbacks = new int[this.stops.size()][];
        matchedChars = new int[this.stops.size()];
        for (int i = 0; i < fallbacks.length; i++) {
            if (this.stops.get(i).isEmpty()) {
                throw new IllegalArgumentException("Stop string " + i + " is empty; expected at least one character");
            }
            fallbacks[i] = fallbacks(this.stops.get(i));
        }
    }

    /// Takes the next piece of text.
    ///
    /// @param text any piece, also empty; ignored once a stop string was found
    /// @return what may be shown now: never part of a stop string
    public String next(String text) {
        if (matched != null) {
            return "";
        }
        for (int i = 0; i < text.length(); i++) {
            held.append(text.charAt(i));
            int longest = advance(text.charAt(i));
            if (longest >= 0) {
                matched = stops.get(longest);
                String safe = held.substring(0, held.length() - matched.length());
                held.setLength(0);
                return safe;
            }
        }
        int keep = 0;
        for (int chars : matchedChars) {
            keep = Math.max(keep, chars);
        }
        String safe = held.substring(0, held.length() - keep);
        held.delete(0, safe.length());
        return safe;
    }

    /// Ends the stream, or a part of it that no stop string leaves.
    ///
    /// @return the text that was held back and never became a stop string
    public String finish() {
        Arrays.fill(matchedChars, 0);
        String rest = held.toString();
        held.setLength(0);
        return rest;
    }

    /// {@return the stop string that was found, if any; then nothing more is given out}
    public Optional<String> matched() {
        return Optional.ofNullable(matched);
    }

    /// Moves every automaton on; returns the longest stop string that is complete now, or -1.
    private int advance(char c) {
        int longest = -1;
        for (int s = 0; s < fallbacks.length; s++) {
            String stop = stops.get(s);
            int at = matchedChars[s];
            while (at > 0 && stop.charAt(at) != c) {
                at = fallbacks[s][at - 1];
            }
            at += stop.charAt(at) == c ? 1 : 0;
            matchedChars[s] = at;
            if (at == stop.length()
                    && (longest < 0 || stop.length() > stops.get(longest).length())) {
                longest = s;
            }
        }
        return longest;
    }

    private static int[] fallbacks(String stop) {
        int[] table = new int[stop.length()];
        int at = 0;
        for (int i = 1; i < table.length; i++) {
            while (at > 0 && stop.charAt(i) != stop.charAt(at)) {
                at = table[at - 1];
            }
            at += stop.charAt(i) == stop.charAt(at) ? 1 : 0;
            table[i] = at;
        }
        return table;
    }
}
