package dev.tenon.platform.templates.values;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// A name that the parser accepts is a name that the renderer knows.
class NamesTests {
    private static final String UNKNOWN = "there is no ";

    @Test
    void everyFilterIsKnownToTheRenderer() {
        assertTrue(Filters.NAMES.size() > 30);
        for (String name : Filters.NAMES) {
            assertFalse(
                    failure(() -> Filters.apply(new Budget(), name, "a", Arguments.NONE))
                            .startsWith(UNKNOWN),
                    name);
        }
    }

    @Test
    void everyTestIsKnownToTheRenderer() {
        assertTrue(Tests.NAMES.size() > 30);
        for (String name : Tests.NAMES) {
            assertFalse(
                    failure(() -> Tests.holds(new Budget(), name, "a", Arguments.NONE))
                            .startsWith(UNKNOWN),
                    name);
        }
    }

    @Test
    void everyMethodOfStringsIsKnownToTheRenderer() {
        assertTrue(Builtin.OF_STRINGS.size() > 20);
        for (String name : Builtin.OF_STRINGS) {
            Builtin method = new Builtin("a", name);
            assertFalse(failure(() -> method.call(new Budget(), Arguments.NONE)).startsWith(UNKNOWN), name);
        }
    }

    private static String failure(Runnable action) {
        try {
            action.run();
            return "";
        } catch (TemplateFailure e) {
            return e.getMessage();
        }
    }
}
