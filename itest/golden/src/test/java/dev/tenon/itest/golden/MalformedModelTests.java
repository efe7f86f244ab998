package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Every broken file of the golden set gives its typed error and does not hang, and the control files run.
class MalformedModelTests {
    private static final Path FOLDER =
            GoldenData.projectRoot().resolve("platform/core/src/test/resources/golden/malformed");
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final Map<String, Set<String>> CODES = Map.of(
            "missing_key", Set.of(ErrorCode.MODEL_KEY_MISSING),
            "wrong_type", Set.of(ErrorCode.MODEL_KEY_VALUE),
            "missing_tensor", Set.of(ErrorCode.MODEL_TENSOR_MISSING),
            "shape",
                    Set.of(
                            ErrorCode.MODEL_TENSOR_SHAPE,
                            ErrorCode.MODEL_KEY_VALUE,
                            ErrorCode.MODEL_TOKENIZER,
                            ErrorCode.GGUF_SHAPE),
            "data", Set.of(ErrorCode.MODEL_DATA),
            "io", Set.of(ErrorCode.IO));
    private static Engine engine;

    @BeforeAll
    static void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    private static boolean fits(TenonException e, String expected) {
        return switch (expected) {
            case "format" -> e.code().startsWith("GGUF-") || e.code().startsWith("MODEL-");
            case "unsupported" -> e instanceof UnsupportedModelException;
            case "accept" -> false;
            default -> CODES.get(expected).contains(e.code());
        };
    }

    private static TenonException load(Path file) {
        try (LoadedModel model =
                        engine.load(LoadRequest.builder(file).checkData(true).build());
                Session session = model.newSession()) {
            session.evaluate(new int[] {1, 2, 3}, Rows.LAST, (i, logits) -> {
                for (float logit : logits) {
                    assertTrue(Float.isFinite(logit), "logit " + logit);
                }
            });
            return null;
        } catch (TenonException e) {
            return e;
        }
    }

    @TestFactory
    Stream<DynamicTest> eachFileGivesItsError() {
        JsonNode manifest = GoldenData.json(FOLDER.resolve("manifest.json"));
        assertEquals(50, manifest.size());
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode entry : manifest) {
            tests.add(dynamicTest(entry.get("file").asText(), () -> check(entry)));
        }
        return tests.stream();
    }

    private static void check(JsonNode entry) {
        TenonException error = assertTimeoutPreemptively(
                PATIENCE, () -> load(FOLDER.resolve(entry.get("file").asText())), "a bad file must not hang");
        List<String> expected = new ArrayList<>();
        entry.get("expect").forEach(e -> expected.add(e.asText()));
        if (error == null) {
            assertTrue(expected.contains("accept"), "was accepted; expected " + expected);
        } else {
            if (expected.stream().noneMatch(e -> fits(error, e))) {
                fail("expected " + expected + " but got " + error, error);
            }
            assertTrue(error.getMessage().lines().count() == 1, error.getMessage());
        }
    }

    @Test
    void noMappingIsLeftBehind() throws IOException {
        Path maps = Path.of("/proc/self/maps");
        org.junit.jupiter.api.Assumptions.assumeTrue(Files.exists(maps), "needs /proc/self/maps");
        for (JsonNode entry : GoldenData.json(FOLDER.resolve("manifest.json"))) {
            load(FOLDER.resolve(entry.get("file").asText()));
        }
        try (Stream<String> lines = Files.lines(maps)) {
            assertEquals(List.of(), lines.filter(l -> l.contains(".gguf")).toList());
        }
    }
}
