package dev.tenon.platform.bench.suite.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class DirectProgramTests {
    private static String verdict(String a, String b) {
        return DirectProgram.texts(a, b).title();
    }

    @Test
    void textsThatDifferAreTold() {
        assertTrue(verdict("5 6 7", "5 6 7").startsWith("A and B generate the same 3 tokens"));
        assertTrue(verdict("5 6 7", "5 8 7").startsWith("A and B generate different tokens after 1 equal ones"));
        assertTrue(verdict("5 6 7", "5 6").startsWith("A and B generate different tokens after 2 equal ones"));
        assertTrue(verdict("", "").startsWith("A and B generate different tokens after 0 equal ones"));
        assertEquals(
                List.of(List.of("A", "5 6"), List.of("B", "5 7")),
                DirectProgram.texts("5 6", "5 7").rows());
    }
}
