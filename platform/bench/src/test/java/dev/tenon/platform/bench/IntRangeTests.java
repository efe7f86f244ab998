package dev.tenon.platform.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IntRangeTests {
    private static List<Integer> parse(String... texts) {
        return IntRange.parse(List.of(texts));
    }

    @Test
    void numbersListsAndRangesAreRead() {
        assertEquals(List.of(512), parse("512"));
        assertEquals(List.of(0, 128, 256), parse("0,128,256"));
        assertEquals(List.of(1, 2, 3, 4), parse("1-4"));
        assertEquals(List.of(16, 32, 48, 64), parse("16-64+16"));
        assertEquals(List.of(1, 2, 4, 8), parse("1-10*2"));
        assertEquals(List.of(1, 5, 6, 7), parse("1,5-6", "7"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "-1", "8-1", "1-8*1", "1-8+0", "0-8*2", "1,,2", "1-99999999", "99999999999"})
    void otherTextIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> parse(text));
    }
}
