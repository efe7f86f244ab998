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
import dev.tenon.api.text.ChatMessage;
import dev.tenon.api.text.ChatTemplate;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// One construct of the language after the other. `constructs.json` was rendered by jinja2 3.1.6 in
/// its immutable sandbox, set up as Hugging Face does.
class ConstructTests {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JinjaTemplateEngine ENGINE = new JinjaTemplateEngine();

    private static JsonNode constructs() throws IOException {
        try (InputStream in = ConstructTests.class.getResourceAsStream("/templates/constructs.json")) {
            return JSON.readTree(in);
        }
    }

    private static Map<String, Object> variables() throws IOException {
        return JSON.convertValue(constructs().get("variables"), new TypeReference<>() {});
    }

    @TestFactory
    List<DynamicTest> constructsRenderAsJinja2() throws IOException {
        Map<String, Object> variables = variables();
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode c : constructs().get("cases")) {
            String source = c.get("template").asText();
            tests.add(DynamicTest.dynamicTest(
                    "template " + source.replace("\n", "\\n"),
                    () -> assertEquals(
                            c.get("expected").asText(), ENGINE.compile(source).render(variables))));
        }
        assertTrue(tests.size() > 80);
        return tests;
    }

    @TestFactory
    List<DynamicTest> whatFailsInJinja2FailsHereWithATypedError() throws IOException {
        Map<String, Object> variables = variables();
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode c : constructs().get("render_errors")) {
            String source = c.get("template").asText();
            tests.add(DynamicTest.dynamicTest(source, () -> {
                ChatTemplate template = ENGINE.compile(source);
                ModelFormatException e = assertThrows(ModelFormatException.class, () -> template.render(variables));
                assertEquals(ErrorCode.MODEL_TEMPLATE, e.code());
            }));
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> brokenTemplatesAreRefusedWhenTheyAreCompiled() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode c : constructs().get("syntax_errors")) {
            tests.add(DynamicTest.dynamicTest(c.asText(), () -> {
                ModelFormatException e = assertThrows(ModelFormatException.class, () -> ENGINE.compile(c.asText()));
                assertEquals(ErrorCode.MODEL_TEMPLATE, e.code());
                assertFalse(e.getMessage().contains("\uFDD0"), e.getMessage());
            }));
        }
        return tests;
    }

    @Test
    void raiseExceptionKeepsItsMessage() {
        ChatTemplate template = ENGINE.compile("{{ raise_exception('roles must alternate: ' ~ role) }}");
        ModelFormatException e =
                assertThrows(ModelFormatException.class, () -> template.render(Map.of("role", "tool")));
        assertTrue(e.getMessage().contains("roles must alternate: tool"), e.getMessage());
    }

    @Test
    void strftimeNowReadsTheClock() {
        Clock clock = Clock.fixed(Instant.parse("2026-02-03T04:05:06Z"), ZoneOffset.UTC);
        ChatTemplate template = new JinjaTemplateEngine(clock)
                .compile("{{ strftime_now('%Y-%m-%d %H:%M:%S %d %b %B %a %A %y %j %p %I %-d %e %%') }}");
        assertEquals("2026-02-03 04:05:06 03 Feb February Tue Tuesday 26 034 AM 04 3  3 %", template.render(Map.of()));
    }

    @Test
    void textFromMessagesIsNeverReadAsATemplate() {
        ChatTemplate template = ENGINE.compile("{% for m in messages %}{{ m.content }}{% endfor %}");
        String hostile = "{{ 7 * 7 }} {% set x = 1 %} {# c #} <b>&amp;</b> \uFDD0{ 0 }\uFDD1";
        assertEquals(hostile, template.render(List.of(new ChatMessage("user", hostile)), true, Map.of()));
    }

    @Test
    void unknownTypesAmongTheVariablesAreRefused() {
        ChatTemplate template = ENGINE.compile("{{ x }}");
        assertThrows(IllegalArgumentException.class, () -> template.render(Map.of("x", new Object())));
        List<Object> self = new ArrayList<>();
        self.add(self);
        assertThrows(IllegalArgumentException.class, () -> template.render(Map.of("x", self)));
    }

    @Test
    void oneTemplateServesManyThreads() throws Exception {
        ChatTemplate template = ENGINE.compile("{% set ns = namespace(n=0) %}"
                + "{% for i in range(200) %}{% set ns.n = ns.n + k %}{% endfor %}{{ ns.n }}");
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> results = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                results.add(threads.submit(() -> {
                    for (int k = 0; k < 50; k++) {
                        assertEquals(Integer.toString(200 * k), template.render(Map.of("k", k)));
                    }
                }));
            }
            for (Future<?> result : results) {
                result.get();
            }
        }
    }
}
