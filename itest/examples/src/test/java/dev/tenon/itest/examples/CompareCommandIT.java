package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `tenon compare` in the finished distribution, with an architecture that only a handed bundle has.
///
/// Long: the example that it hands over is built by a build of its own.
@Tag("long")
class CompareCommandIT {
    private static final Path GEMMA =
            Path.of("src/test/resources/golden/models/sandwich.q4_0.gguf").toAbsolutePath();

    @TempDir
    Path folder;

    @Test
    void theBackendAndTheReferenceComputeTheSameOpsOfAHandedArchitecture() throws Exception {
        Platform platform = new Platform(folder);
        List<String> lines = platform.run(
                "compare",
                "-m",
                GEMMA.toString(),
                "--bundle",
                Platform.jar("model-sandwich").toString(),
                "--backend",
                "cpu-vector",
                "--backend",
                "reference",
                "--ids",
                "1,2,3,4",
                "--strict",
                "--json");
        JsonNode report = new ObjectMapper().readTree(lines.getLast());
        assertTrue(report.get("same").asBoolean(), lines.toString());
        assertEquals(4, report.get("tokens").asInt());
        assertTrue(report.get("a").asText().startsWith("org.example.sandwich 1.0.0 on cpu-vector"), lines.toString());
        assertTrue(report.get("ops").size() > 100, report.get("ops").size() + " ops");
    }
}
