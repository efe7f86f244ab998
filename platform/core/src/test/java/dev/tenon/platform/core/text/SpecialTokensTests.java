package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Cutting special tokens out of texts.
class SpecialTokensTests {
    private static List<String> find(String text, String... tokens) {
        IntList ids = new IntList(tokens.length);
        for (int i = 0; i < tokens.length; i++) {
            ids.add(i);
        }
        SpecialTokens.Found found = new SpecialTokens(tokens, ids).find(text);
        List<String> out = new ArrayList<>();
        for (int i = 0; i < found.ids().length; i++) {
            assertEquals(tokens[found.ids()[i]], text.substring(found.from()[i], found.to()[i]));
            out.add(found.from()[i] + ":" + tokens[found.ids()[i]]);
        }
        return out;
    }

    @Test
    void longestTokenGoesFirst() {
        assertEquals(List.of("0:<a>b", "4:<a>"), find("<a>b<a>", "<a>", "<a>b"));
        assertEquals(List.of("2:a>>"), find("x<a>>", "<a", "a>>"));
        assertEquals(List.of("0:\n\n", "2:\n"), find("\n\n\n", "\n", "\n\n"));
    }

    @Test
    void nothingIsFoundInOtherTexts() {
        assertEquals(List.of(), find("<|im_start", "<|im_start|>"));
        assertEquals(List.of(), find("", "<|im_start|>"));
        assertEquals(List.of(), find("abc"));
        assertEquals(List.of(), find("abc", ""));
    }

    @Test
    void randomTextsAreCutAsByTheSlowWay() {
        String[] tokens = {"a", "ab", "aba", "bb", "cab", "abcab"};
        for (int seed = 0; seed < 3000; seed++) {
            Random random = new Random(seed);
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(20); i > 0; i--) {
                text.append((char) ('a' + random.nextInt(3)));
            }
            char[] left = text.toString().toCharArray();
            String[] at = new String[left.length];
            for (String token : new String[] {"abcab", "aba", "cab", "ab", "bb", "a"}) {
                if (token.equals("cab") || token.equals("bb")) {
                    continue; // shares its length with the one before, which is searched together with it
                }
                for (int i = 0; i < left.length; i++) {
                    for (String other : tokens) {
                        if (other.length() == token.length() && new String(left).startsWith(other, i)) {
                            at[i] = other;
                            java.util.Arrays.fill(left, i, i + other.length(), '#');
                        }
                    }
                }
            }
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < at.length; i++) {
                if (at[i] != null) {
                    expected.add(i + ":" + at[i]);
                }
            }
            assertEquals(expected, find(text.toString(), tokens), "seed " + seed);
        }
    }
}
