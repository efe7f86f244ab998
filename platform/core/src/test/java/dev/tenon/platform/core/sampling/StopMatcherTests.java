package dev.tenon.platform.core.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class StopMatcherTests {
    @Test
    void textBeforeTheStopStringIsGivenOutAndNothingAfterIt() {
        StopMatcher matcher = new StopMatcher(List.of("</s>", "User:"));
        assertEquals("Hello ", matcher.next("Hello <"));
        assertEquals("", matcher.next("/s"));
        assertEquals(Optional.empty(), matcher.matched());
        assertEquals("", matcher.next("> more"));
        assertEquals(Optional.of("</s>"), matcher.matched());
        assertEquals("", matcher.next("again"));
        assertEquals("", matcher.finish());
    }

    @Test
    void heldTextIsGivenOutWhenItCannotMatchAnyMoreOrAtTheEnd() {
        StopMatcher matcher = new StopMatcher(List.of("abcd"));
        assertEquals("x", matcher.next("xabc"));
        assertEquals("abc", matcher.next("ab"));
        assertEquals("ab", matcher.finish());
        assertEquals(Optional.empty(), matcher.matched());
    }

    @Test
    void nothingGoesOnAfterTheEndOfAPart() {
        StopMatcher matcher = new StopMatcher(List.of("abcd"));
        assertEquals("", matcher.next("abc"));
        assertEquals("abc", matcher.finish());
        assertEquals("d", matcher.next("d"));
        assertEquals("", matcher.next("abcd"));
        assertEquals(Optional.of("abcd"), matcher.matched());
    }

    @Test
    void withoutStopStringsEverythingPasses() {
        StopMatcher matcher = new StopMatcher(List.of());
        assertEquals("abc", matcher.next("abc"));
        assertEquals("", matcher.finish());
    }

    @Test
    void anEmptyStopStringIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new StopMatcher(List.of("a", "")));
    }

    @Test
    void anyCutGivesWhatNaiveSearchGives() {
        SplittableRandom random = new SplittableRandom(99);
        int found = 0;
        for (int round = 0; round < 20_000; round++) {
            List<String> stops = new ArrayList<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                stops.add(word(random, 1 + random.nextInt(5)));
            }
            String text = word(random, random.nextInt(30));
            StopMatcher matcher = new StopMatcher(stops);
            StringBuilder shown = new StringBuilder();
            for (int at = 0; at < text.length(); ) {
                int end = Math.min(text.length(), at + random.nextInt(5));
                shown.append(matcher.next(text.substring(at, end)));
                at = end;
            }
            shown.append(matcher.finish());
            String expected = text;
            String stop = null;
            int earliestEnd = Integer.MAX_VALUE;
            for (String s : stops) {
                int at = text.indexOf(s);
                int end = at + s.length();
                if (at >= 0 && (end < earliestEnd || (end == earliestEnd && s.length() > stop.length()))) {
                    earliestEnd = end;
                    stop = s;
                    expected = text.substring(0, at);
                }
            }
            found += stop == null ? 0 : 1;
            assertEquals(expected, shown.toString(), () -> stops + " in " + text);
            assertEquals(Optional.ofNullable(stop), matcher.matched(), () -> stops + " in " + text);
        }
        assertEquals(true, found > 1000 && found < 19_000, "both outcomes occur");
    }

    private static String word(SplittableRandom random, int length) {
        StringBuilder word = new StringBuilder();
        for (int i = 0; i < length; i++) {
            word.append((char) ('a' + random.nextInt(3)));
        }
        return word.toString();
    }
}
