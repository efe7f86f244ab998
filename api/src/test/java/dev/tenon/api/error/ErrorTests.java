package dev.tenon.api.error;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ErrorTests {
    @Test
    void aMessageEndsWithItsCode() {
        Exception cause = new Exception("driver");
        for (TenonException e : List.of(
                new TenonException("CFG-001", "Text", cause),
                new ModelFormatException("CFG-001", "Text", cause),
                new BackendException("CFG-001", "Text", 7, cause))) {
            assertEquals("CFG-001", e.code());
            assertEquals("Text [CFG-001]", e.getMessage());
            assertSame(cause, e.getCause());
        }
        assertEquals(7, new BackendException("B", "Text", 7, null).nativeCode());
        OutOfResourcesException limit = new OutOfResourcesException("LIMIT-003", "Text", 3, 2, 4);
        assertEquals(List.of(3L, 2L, 4L), List.of(limit.asked(), limit.used(), limit.limit()));
    }

    @Test
    void allReasonsAreKeptAndEightAreTold() {
        List<Issue> issues = IntStream.range(0, 10)
                .mapToObj(i -> Issue.error("MODEL-00" + i, "reason " + i, "a.gguf"))
                .toList();
        UnsupportedModelException e = new UnsupportedModelException("a.gguf cannot be loaded", issues);
        assertEquals("MODEL-000", e.code());
        assertEquals(issues, e.issues());
        assertTrue(e.getMessage().contains("reason 7; and 2 more [MODEL-000]"), e.getMessage());
        Issue only = new UnsupportedModelException("MODEL-003", "Text").issues().getFirst();
        assertEquals(new Issue(Issue.Severity.ERROR, "MODEL-003", "Text", ""), only);
    }

    @Test
    void messagesAreOneLineOfSomeLength() {
        String nasty = "a\n\u001b[2J\u009b\t\u007f";
        String shown = "a\\n\\u001b[2J\\u009b\\u0009\\u007f";
        assertEquals(shown + " [A-001]", new TenonException("A-001", nasty).getMessage());
        assertEquals(shown, Issue.error("A-001", nasty, "").message());
        String message = new TenonException("A-001", "begin" + "x".repeat(1 << 20) + "end").getMessage();
        assertTrue(message.startsWith("beginx") && message.endsWith("xend [A-001]"), message);
        assertTrue(message.length() < 4100, "characters: " + message.length());
        assertEquals("a\\u202eb\\u2069 [A-001]", new TenonException("A-001", "a\u202eb\u2069").getMessage());
        assertEquals("a\n\\u001bb\r\n\t\\u000d", OneLine.lines("a\n\u001bb\r\n\t\r"));
        assertEquals("ä\u2581 [A-001]", new TenonException("A-001", "ä\u2581").getMessage());
    }

    @Test
    void codesAreUnique() throws IllegalAccessException {
        Set<Object> seen = new HashSet<>();
        for (Field field : ErrorCode.class.getFields()) {
            String code = (String) field.get(null);
            assertTrue(code.matches("[A-Z]+-\\d{3}"), code);
            assertTrue(seen.add(code), code + " twice");
        }
        assertTrue(seen.size() > 30);
    }
}
