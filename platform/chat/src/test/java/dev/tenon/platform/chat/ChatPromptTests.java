package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.platform.core.Tenon;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ChatPromptTests {
    private static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
    private static final String PLAIN = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}";
    /// Joins arguments with texts, so that they must be one.
    private static final String JOINS = "{% for m in messages %}{% for c in m.tool_calls or [] %}"
            + "{{ c.function.name + '|' + c.function.arguments }}{% endfor %}{{ m.content }}{% endfor %}";
    private static final Map<String, Object> TOOL =
            Map.of("type", "function", "function", Map.of("name", "time", "parameters", Map.of("type", "object")));

    private static Engine engine;
    private static LoadedModel model;

    @BeforeAll
    static void load() {
        engine = Tenon.standalone(Map.of());
        model = engine.load(LoadRequest.builder(MODEL).contextLength(2048).build());
    }

    @AfterAll
    static void close() {
        model.close();
        engine.close();
    }

    /// {@return the prompt of a question, a call and its result, by a template}
    private static String prompt(String source, ReplyFormat format) {
        ChatTemplate template = ServiceLoader.load(ChatTemplateEngine.class)
                .findFirst()
                .orElseThrow()
                .compile(source);
        LoadedModel with = (LoadedModel) Proxy.newProxyInstance(
                ChatPromptTests.class.getClassLoader(),
                new Class<?>[] {LoadedModel.class},
                (proxy, method, args) ->
                        method.getName().equals("chatTemplate") ? Optional.of(template) : method.invoke(model, args));
        Map<String, Object> function = Map.of("name", "time", "arguments", Map.of("zone", "UTC"));
        List<Map<String, Object>> messages = List.of(
                Map.of("role", "user", "content", "When?"),
                Map.of(
                        "role",
                        "assistant",
                        "content",
                        "",
                        "tool_calls",
                        List.of(Map.of("id", "1", "type", "function", "function", function))),
                Map.of("role", "tool", "content", "noon"));
        return ChatPrompt.of(with, format, new ChatInput(messages, List.of(TOOL), Map.of(), Enforced.nothing(), false))
                .text();
    }

    private static ReplyFormat format(CallFormat calls, boolean takesCalls) {
        return new ReplyFormat(calls, false, takesCalls, "<think>", "</think>");
    }

    @Test
    void argumentsAreTextWhereATemplateNeedsThat() {
        String text = prompt(JOINS, format(CallFormat.DEEPSEEK, true));
        assertTrue(text.endsWith("When?time|{\"zone\":\"UTC\"}noon"), text);
    }

    @Test
    void aModelIsToldOfToolsInItsOwnForm() {
        String text = prompt(JOINS, format(CallFormat.DEEPSEEK, true));
        assertTrue(text.contains("\"name\":\"time\""), text);
        assertTrue(
                text.contains("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>ARGUMENTS<｜tool▁call▁end｜>"
                        + "<｜tool▁calls▁end｜>"),
                text);
    }

    @Test
    void callsAreTextForATemplateThatKnowsNone() {
        String text = prompt(PLAIN, format(CallFormat.TAGGED, false));
        assertEquals(
                "[user]When?[assistant]\n<tool_call>\n{\"name\": \"time\", \"arguments\": {\"zone\":\"UTC\"}}\n</tool_call>"
                        + "[user]<tool_response>\nnoon\n</tool_response>",
                text.substring(text.indexOf("[user]")));
    }
}
