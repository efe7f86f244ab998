package dev.tenon.kernels.nvidia.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RepeatedLinesTests {
    @Test
    void threeLinesOrMoreAreLeftOut() {
        List<String> lines = List.of("a", "b", "c", "a", "b", "x", "a", "b", "c", "a");
        List<String> packed = RepeatedLines.leaveOut(List.of(), lines);
        assertEquals(List.of("a", "b", "c", "a", "b", "x", "~6 4"), packed);
        assertEquals(lines, putBack(List.of(), packed));
    }

    @Test
    void aRepetitionMayRunIntoItself() {
        List<String> lines = List.of("a", "a", "a", "a", "a", "a", "a");
        List<String> packed = RepeatedLines.leaveOut(List.of(), lines);
        assertEquals(List.of("a", "~1 6"), packed);
        assertEquals(lines, putBack(List.of(), packed));
    }

    @Test
    void linesOfTheOtherTextAreLeftOut() {
        List<String> before = List.of("p", "q", "r", "s");
        List<String> lines = List.of("n", "q", "r", "s", "n");
        List<String> packed = RepeatedLines.leaveOut(before, lines);
        assertEquals(List.of("n", "~4 4"), packed, "with its own first line");
        assertEquals(lines, putBack(before, packed));
    }

    @Test
    void whateverIsLeftOutComesBack() {
        Random random = new Random(5);
        for (int round = 0; round < 50; round++) {
            int kinds = 1 + random.nextInt(6);
            List<String> text = IntStream.range(0, 300)
                    .mapToObj(_ -> "line " + random.nextInt(kinds))
                    .toList();
            List<String> before = text.subList(0, random.nextInt(200));
            List<String> lines = text.subList(before.size(), text.size());
            List<String> packed = RepeatedLines.leaveOut(before, lines);
            assertTrue(packed.size() < lines.size());
            assertEquals(lines, putBack(before, packed));
        }
    }

    private static List<String> putBack(List<String> before, List<String> packed) {
        List<String> all = new ArrayList<>(before);
        RepeatedLines.putBack(all, packed);
        return all.subList(before.size(), all.size());
    }
}
