package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StyledTextTests {
    private static final String OFF = "\u001b[0m";
    private static final String BOLD = "\u001b[0;1m";
    private static final String GREY = "\u001b[0;2m";
    private static final String CODE = "\u001b[0;36m";

    /// Shows a text that comes in one piece, after checking that it is shown alike when it comes in pieces of each
    /// size.
    private static String show(int width, String text) {
        StyledText whole = new StyledText(width);
        String expected = whole.next(text) + whole.finish();
        for (int size = 1; size < text.length(); size++) {
            StyledText pieces = new StyledText(width);
            StringBuilder shown = new StringBuilder();
            for (int at = 0; at < text.length(); at += size) {
                shown.append(pieces.next(text.substring(at, Math.min(text.length(), at + size))));
            }
            assertEquals(expected, shown + pieces.finish(), "pieces of " + size);
        }
        return expected;
    }

    @Test
    void linesEndBetweenWords() {
        assertEquals("The fox\nran home.", show(9, "The fox ran home."));
        assertEquals("incomprehensible\nto me", show(9, "incomprehensible to me"));
        assertEquals("exactly 9\nhere", show(9, "exactly 9 here"));
        assertEquals("One\n\n  two", show(9, "One\n\n  two"));
        assertEquals("\u6f22\u5b57\n\u6f22", show(4, "\u6f22\u5b57\u6f22"));
    }

    @Test
    void boldIsShown() {
        assertEquals("a " + BOLD + "b c" + OFF + " d", show(80, "a **b c** d"));
        assertEquals(BOLD + "a" + OFF, show(80, "**a**"));
        assertEquals("12345\n" + BOLD + "678" + OFF, show(8, "12345 **678**"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"2 ** 3", "2 * 3", "*a*", "a*", "a**", "1 < 2", "<thin", "-5 is", "#5", "3.14", "-", "**", ""})
    void whatIsNoMarkStays(String text) {
        assertEquals(text, show(80, text));
    }

    @Test
    void headingsAndListsAreShown() {
        assertEquals(BOLD + "Title" + OFF + "\ntext", show(80, "## Title\ntext").replace("\n" + OFF, OFF + "\n"));
        assertEquals("\u2022 one\n  two\n\u2022 x", show(6, "- one two\n* x"));
        assertEquals("10. one\n    two", show(8, "10. one two"));
        assertEquals("  \u2022 a\n    b", show(5, "  - a b"));
    }

    @Test
    void codeKeepsItsLinesAndMarks() {
        assertEquals("a " + CODE + "b**c" + OFF + " d", show(80, "a `b**c` d"));
        assertEquals(
                "Look:\n" + CODE + "  int a = 1; // ** long\n- x\n" + OFF + "done",
                show(9, "Look:\n```java\n  int a = 1; // ** long\n- x\n```\ndone"));
    }

    @Test
    void reasoningIsGreyAndStandsAboveTheAnswer() {
        StyledText text = new StyledText(80);
        assertEquals(
                GREY + "hm **\n\n" + OFF + "Yes",
                text.reasoning() + text.next("hm **") + text.answer() + text.next("Yes") + text.finish());
        StyledText lines = new StyledText(80);
        assertEquals(
                GREY + "hm\n\n" + OFF + "Yes",
                lines.reasoning() + lines.next("hm\n") + lines.answer() + lines.next("Yes") + lines.finish());
        StyledText open = new StyledText(80);
        assertEquals(GREY + "hm" + OFF, open.reasoning() + open.next("hm") + open.finish());
        StyledText plain = StyledText.plain(80, false);
        assertEquals(
                "hm\n\nYes",
                plain.reasoning() + plain.next("hm") + plain.answer() + plain.next("Yes") + plain.finish());
    }

    @Test
    void textCannotControlTheTerminal() {
        assertEquals("a\uFFFD[2Jb", show(80, "a\u001b[2Jb"));
    }
}
