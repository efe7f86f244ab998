package dev.tenon.kernels.nvidia.source;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Lines of a text, of which those that stand earlier in it, or in another text, are left out.
///
/// ```
/// mov.u32 %rN,16704;
/// ~240 12               the 12 lines that begin 240 lines before this one
/// ```
///
/// The other text counts as standing before this one. No line may begin with `~`. It finds repetitions however far
/// away, which the 32 KiB window of gzip does not.
final class RepeatedLines {
    private static final char MARK = '~';

    /// Fewest lines that are left out.
    private static final int FEWEST = 3;
    /// Most places at which a repetition is looked for.
    private static final int PLACES = 48;

    private RepeatedLines() {}

    /// {@return the lines without repetitions}
    ///
    /// @param before lines of the other text
    /// @param lines the lines
    static List<String> leaveOut(List<String> before, List<String> lines) {
        List<String> all = new ArrayList<>(before);
        all.addAll(lines);
        Map<List<String>, List<Integer>> places = new HashMap<>();
        for (int at = 0; at < before.size(); at++) {
            note(places, all, at);
        }
        List<String> out = new ArrayList<>();
        for (int at = before.size(); at < all.size(); ) {
            int count = 0;
            int from = 0;
            List<Integer> candidates = at + FEWEST <= all.size()
                    ? places.getOrDefault(all.subList(at, at + FEWEST), List.of())
                    : List.of();
            for (int i = candidates.size() - 1; i >= Math.max(0, candidates.size() - PLACES); i--) {
                int same = same(all, candidates.get(i), at);
                if (same > count) {
                    count = same;
                    from = candidates.get(i);
                }
            }
            out.add(count > 0 ? MARK + "" + (at - from) + " " + count : all.get(at));
            for (int end = at + Math.max(1, count); at < end; at++) {
                note(places, all, at);
            }
        }
        return out;
    }

    private static void note(Map<List<String>, List<Integer>> places, List<String> all, int at) {
        if (at + FEWEST <= all.size()) {
            places.computeIfAbsent(List.copyOf(all.subList(at, at + FEWEST)), key -> new ArrayList<>())
                    .add(at);
        }
    }

    private static int same(List<String> all, int from, int at) {
        int count = 0;
        while (at + count < all.size() && all.get(from + count).equals(all.get(at + count))) {
            count++;
        }
        return count;
    }

    /// Appends all lines.
    ///
    /// @param all lines of the other text
    /// @param lines from [#leaveOut]
    static void putBack(List<String> all, List<String> lines) {
        for (String line : lines) {
            if (line.charAt(0) == MARK) {
                int space = line.indexOf(' ');
                int from = all.size() - Integer.parseInt(line, 1, space, 10);
                int end = from + Integer.parseInt(line, space + 1, line.length(), 10);
                for (int i = from; i < end; i++) {
                    all.add(all.get(i));
                }
            } else {
                all.add(line);
            }
        }
    }
}
