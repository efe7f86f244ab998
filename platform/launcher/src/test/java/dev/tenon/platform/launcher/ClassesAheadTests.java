package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.Bundle;

class ClassesAheadTests {
    /// A class whose bundle is being taken away.
    private static final String TAKEN = "taken.away.Class";

    @TempDir
    Path folder;

    private final List<String> loaded = new ArrayList<>();
    private Path list;

    @BeforeEach
    void write() throws IOException {
        list = Files.write(
                folder.resolve("classes"),
                List.of(
                        "run",
                        "one.jar java.lang.String",
                        "gone.jar any.Class",
                        "one.jar no.Such",
                        "one.jar java.util.List"));
    }

    @Test
    void classesOfTheRecordedCommandAreLoadedInOrderWithoutThoseThatAreGone() {
        ClassesAhead.load(list, "run", List.of(bundle("reference:file:/somewhere/one.jar")));

        assertEquals(List.of("java.lang.String", "no.Such", "java.util.List"), loaded);
    }

    @Test
    void anotherCommandGetsNone() {
        ClassesAhead.load(list, "inspect", List.of(bundle("reference:file:/somewhere/one.jar")));

        assertEquals(List.of(), loaded);
    }

    @Test
    void missingListIsAnEmptyOne() {
        ClassesAhead.load(folder.resolve("none"), "run", List.of(bundle("reference:file:/somewhere/one.jar")));

        assertEquals(List.of(), loaded);
    }

    @Test
    void aBundleThatTheFrameworkTakesAwayMeanwhileEndsIt() throws IOException {
        Files.write(list, List.of("run", "one.jar java.lang.String", "one.jar " + TAKEN, "one.jar java.util.List"));

        ClassesAhead.load(list, "run", List.of(bundle("reference:file:/somewhere/one.jar")));

        assertEquals(List.of("java.lang.String", TAKEN), loaded);
    }

    private Bundle bundle(String location) {
        return (Bundle) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Bundle.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "getLocation" -> {
                            return location;
                        }
                        case "loadClass" -> {
                            loaded.add((String) arguments[0]);
                            if (arguments[0].equals(TAKEN)) {
                                throw new NullPointerException("no wiring any more");
                            }
                            return Class.forName((String) arguments[0]);
                        }
                        default -> throw new UnsupportedOperationException(method.getName());
                    }
                });
    }
}
