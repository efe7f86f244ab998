package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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

    private static Engine engine;
    private static LoadedModel model;

    @BeforeAll
    static void load() {
        engine = StandaloneEngine.create(Map.of());
        model = engine.load(LoadRequest.builder(MODEL).contextLength(2048).build());
    }

    @AfterAll
    static void close() {
        model.close();
        engine.close();
    }

    /// {@return the prompt of a question, a call and its result, by a template}
    private static String prompt(String source, TemplateFormat format) {
        ChatTemplate template = ServiceLoader.load(ChatTemplateEngine.class)
                .findFirst()
                .orElseThrow()
                .compile(source);
        ToolCall call = new ToolCall("1", "time", "{\"zone\":\"UTC\"}");
        ChatRequest request = ChatRequest.builder()
                .user("When?")
                .turn(ChatTurn.assistant("", call))
                .turn(new ChatTurn(ChatTurn.TOOL, "noon", null, List.of(), null, null, List.of()))
                .tools(List.of(new Tool("time", "", null)))
                .build();
        ModelTemplate known = new ModelTemplate(template, source, model.tokenizer(), format);
        return new PromptWriter(model, known).write(request).text();
    }

    private static TemplateFormat format(KnownFormat calls, boolean takesCalls) {
        return new TemplateFormat(new ReplyFormat(calls.calls(), Reasoning.THINK), false, takesCalls);
    }

    @Test
    void argumentsAreTextWhereATemplateNeedsThat() {
        String text = prompt(JOINS, format(KnownFormat.DEEPSEEK, true));
        assertTrue(text.endsWith("When?time|{\"zone\":\"UTC\"}noon"), text);
    }

    @Test
    void aModelIsToldOfToolsInItsOwnForm() {
        String text = prompt(JOINS, format(KnownFormat.DEEPSEEK, true));
        assertTrue(text.contains("\"name\":\"time\""), text);
        assertTrue(
                text.contains("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>ARGUMENTS<｜tool▁call▁end｜>"
                        + "<｜tool▁calls▁end｜>"),
                text);
    }

    @Test
    void callsAreTextForATemplateThatKnowsNone() {
        String text = prompt(PLAIN, format(KnownFormat.TAGGED, false));
        assertEquals(
                "[user]When?[assistant]\n<tool_call>\n{\"name\": \"time\", \"arguments\": {\"zone\":\"UTC\"}}\n</tool_call>"
                        + "[user]<tool_response>\nnoon\n</tool_response>",
                text.substring(text.indexOf("[user]")));
    }
}
