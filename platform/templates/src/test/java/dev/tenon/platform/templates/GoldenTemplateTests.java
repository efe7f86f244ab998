package dev.tenon.platform.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatTemplate;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// Every case of the golden templates, errors included.
class GoldenTemplateTests {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TestFactory
    List<DynamicTest> chatmlRendersAsJinja2() throws IOException {
        return tests(resource("chatml"));
    }

    @TestFactory
    List<DynamicTest> llama3LikeRendersAsJinja2() throws IOException {
        return tests(resource("llama3-like"));
    }

    @TestFactory
    List<DynamicTest> qwen3RendersAsJinja2() throws IOException {
        Path file = shared().resolve("golden/templates/qwen3.json");
        Assumptions.assumeTrue(
                Files.exists(file),
                "The golden data of the qwen3 template is missing; set TENON_SHARED to its folder.");
        return tests(JSON.readTree(file.toFile()));
    }

    private static JsonNode resource(String name) throws IOException {
        try (InputStream in = GoldenTemplateTests.class.getResourceAsStream("/templates/" + name + ".json")) {
            return JSON.readTree(in);
        }
    }

    private static Path shared() {
        String named = System.getProperty("TENON_SHARED", System.getenv("TENON_SHARED"));
        if (named != null) {
            return Path.of(named);
        }
        Path at = Path.of("").toAbsolutePath();
        while (at != null && !Files.exists(at.resolve("mvnw"))) {
            at = at.getParent();
        }
        return at == null ? Path.of("shared") : at.resolveSibling("shared");
    }

    private static List<DynamicTest> tests(JsonNode golden) {
        Clock clock = Clock.fixed(
                LocalDateTime.parse(golden.get("strftime_now").asText()).toInstant(ZoneOffset.UTC), ZoneOffset.UTC);
        ChatTemplate template =
                new JinjaTemplateEngine(clock).compile(golden.get("template").asText());
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode c : golden.get("cases")) {
            tests.add(DynamicTest.dynamicTest(c.get("name").asText(), () -> check(template, c)));
        }
        assertFalse(tests.isEmpty());
        return tests;
    }

    private static void check(ChatTemplate template, JsonNode c) {
        Map<String, Object> variables = JSON.convertValue(c.get("variables"), new TypeReference<>() {});
        if (c.has("error")) {
            ModelFormatException e = assertThrows(ModelFormatException.class, () -> template.render(variables));
            assertEquals(ErrorCode.MODEL_TEMPLATE, e.code());
            assertTrue(e.getMessage().contains(c.get("error").asText()), e.getMessage());
        } else {
            assertEquals(c.get("expected").asText(), template.render(variables));
        }
    }
}
