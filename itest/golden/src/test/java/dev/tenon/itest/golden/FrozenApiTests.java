package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.core.StandaloneEngine;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/// A program that was compiled against version 1.0 of the api, once, runs with the jars of today. Its source
/// is in `src/test/frozen-api`; the jar is made again with a new major version of the api only:
/// `javac -d out -cp api/target/classes FirstProgram.java`, then `jar --create --no-manifest -C out .`.
class FrozenApiTests {
    @Test
    @SuppressWarnings("unchecked")
    void aProgramCompiledOnceStillRuns() throws Exception {
        URL jar = FrozenApiTests.class.getResource("/frozen-api/first-program.jar");
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, FrozenApiTests.class.getClassLoader());
                Engine engine = StandaloneEngine.create(Map.of())) {
            var program = (BiFunction<Engine, Path, Map<String, Object>>) loader.loadClass("first.program.FirstProgram")
                    .getDeclaredConstructor()
                    .newInstance();
            Map<String, Object> did = program.apply(engine, GoldenData.embeddedModel());
            assertFalse(did.get("text").toString().isBlank());
            assertEquals(8, did.get("tokens"));
            assertEquals(8, did.get("generated"));
            assertEquals("CANCELLED", did.get("cancelled"));
            assertEquals("STATE-002", did.get("error"));
        }
    }
}
