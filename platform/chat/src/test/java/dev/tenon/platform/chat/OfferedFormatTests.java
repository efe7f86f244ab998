package dev.tenon.platform.chat;

import static dev.tenon.platform.chat.ReplyParserTests.parse;
import static dev.tenon.platform.chat.ReplyParserTests.tools;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.JsonObject;
import dev.tenon.api.chat.CallFormat.NameThenJson;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import dev.tenon.api.chat.CallFormat.Notation;
import dev.tenon.api.chat.CallFormat.Wording;
import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import dev.tenon.api.chat.ReplyFormatProvider;
import dev.tenon.api.chat.ReplyReader;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Usage;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Formats that are not among the known ones.
class OfferedFormatTests {
    private static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
    private static final CallFormat ACTION = new CallFormat(
            new JsonObject("tool", "input"),
            new Wording("", "<|act|>{\"tool\": ", ", \"input\": ", "}<|/act|>", ""),
            Optional.of("\n"),
            List.of("<|act|>", "<|/act|>"),
            false);
    private static final String TEMPLATE = "{% for m in messages %}{% if m.tool_calls %}{% for c in m.tool_calls %}"
            + "<|act|>{\"tool\": \"{{ c.function.name }}\", \"input\": {{ c.function.arguments | tojson }}}<|/act|>\n"
            + "{% endfor %}{% else %}<{{ m.role }}>{{ m.content }}{% endif %}{% endfor %}"
            + "{% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}";
    private static final ChatRequest REQUEST = ChatRequest.builder()
            .user("a")
            .tools(List.of(new Tool("time", "", null)))
            .build();
    private static final String CALL = "[muse]Well.[/muse]<|act|>{\"tool\": \"time\", \"input\": {\"x\": 1}}<|/act|>";

    private StandaloneEngine engine;
    private LoadedModel model;

    static Stream<CallFormat> formats() {
        return Stream.of(
                ACTION,
                new CallFormat(
                        new NameThenJson(Optional.of("#"), Optional.empty()),
                        new Wording("<calls>", "<call>fn/", " with ", "</call>", "</calls>"),
                        Optional.of("<next>"),
                        List.of("<calls>", "<call>", "<next>", "</call>", "</calls>"),
                        false),
                new CallFormat(
                        new NameThenTags("[[", "=", "", "]]", false),
                        new Wording("<do>\n", "run ", ":\n", "end\n", "</do>"),
                        Optional.of(""),
                        List.of("<do>", "</do>"),
                        false),
                new CallFormat(
                        new NameThenLiterals(Notation.PYTHON),
                        new Wording("<py>\n", "await ", "(", ")", "\n</py>"),
                        Optional.of("\n"),
                        List.of("<py>", "</py>"),
                        false));
    }

    @BeforeEach
    void load() {
        engine = StandaloneEngine.create(Map.of());
        model = engine.load(LoadRequest.builder(MODEL).contextLength(512).build());
    }

    @AfterEach
    void close() {
        model.close();
        engine.close();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void aReplyIsReadInWhateverPiecesItComes(CallFormat format) {
        String json = "{\"s\":\"a \u00e9\ud83d\ude00 </calls> <|/act|>\",\"o\":{\"l\":[1,{\"m\":null}]}}";
        List<Map<String, Object>> tools = tools(
                "{\"name\":\"time\",\"parameters\":{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\"},"
                        + "\"o\":{\"type\":\"object\"}}}}",
                "{\"name\":\"now\"}");
        List<ToolCall> calls = List.of(new ToolCall("", "time", json), new ToolCall("", "now", "{}"));
        String reply = "<think>Hm.</think>Before.\n" + CallWriter.write(format, calls) + "\nAfter.";
        for (int piece = 1; piece <= reply.length(); piece++) {
            List<String> parts = parse(format, "", tools, reply, piece);
            assertEquals(7, parts.size(), parts::toString);
            assertEquals(List.of("reasoning:Hm.", "content:Before.", "call 0 time"), parts.subList(0, 3));
            assertEquals(Json.parse(json), Json.parse(parts.get(3).replaceFirst("arguments 0:", "")));
            assertEquals(List.of("call 1 now", "arguments 1:{}"), parts.subList(4, 6));
            assertEquals("content:After.", parts.get(6).replace("\n", ""));
        }
    }

    private record Provider(String id, Function<String, Optional<ReplyFormat>> formats) implements ReplyFormatProvider {
        @Override
        public Optional<ReplyFormat> format(String template) {
            return formats.apply(template);
        }
    }

    private static Provider actions(String id) {
        return new Provider(
                id,
                template -> template.contains("<|act|>")
                        ? Optional.of(new ReplyFormat(ACTION, new Reasoning("[muse]", "[/muse]")))
                        : Optional.empty());
    }

    private ChatModel chat(String template) {
        return TemplateModel.chat(model, Map.of("", template));
    }

    private static ChatReply read(ChatModel chat, String reply) {
        ChatReply.Collector collector = new ChatReply.Collector();
        ReplyReader reader = chat.reader(REQUEST, chat.prompt(REQUEST), collector);
        reply.chars().forEach(each -> reader.onText(String.valueOf((char) each)));
        reader.end(new Usage(1, 0, 1, 1, 1, FinishReason.STOP));
        return collector.reply();
    }

    private static void assertCalled(ChatReply reply) {
        assertEquals("Well.", reply.reasoning());
        assertEquals("", reply.text());
        assertEquals("time", reply.calls().getFirst().name());
        assertEquals(
                Json.parse("{\"x\": 1}"), Json.parse(reply.calls().getFirst().arguments()));
    }

    @Test
    void theFormatOfABundleIsUsedForItsTemplates() {
        ChatModel before = chat(TEMPLATE);
        assertEquals(CALL, read(before, CALL).text());
        assertTrue(before.prompt(REQUEST).text().contains("<tool_call>"), "tools are told as instructions");
        StandaloneEngine.InstalledBundle bundle = engine.installProviders(actions("actions"));
        ChatModel with = chat(TEMPLATE);
        assertCalled(read(with, CALL));
        assertFalse(with.prompt(REQUEST).text().contains("<tool_call>"), "the template has the tools");
        ChatRequest next = REQUEST.toBuilder()
                .turn(ChatTurn.assistant("", new ToolCall("1", "time", "{\"x\": 1}")))
                .build();
        assertTrue(with.prompt(next).text().contains("<|act|>{\"tool\": \"time\", \"input\": {\"x\": 1}}<|/act|>"));
        assertEquals(CALL, read(before, CALL).text(), "what is prepared stays as it is");
        String hermes = "<tool_call>{\"name\": \"time\", \"arguments\": {}}</tool_call>";
        assertEquals(
                1, read(chat("{{ tools }}{# <tool_call> #}"), hermes).calls().size(), "other templates");
        bundle.remove();
        assertCalled(read(with, CALL));
        assertEquals(CALL, read(chat(TEMPLATE), CALL).text(), "after the bundle");
    }

    /// The template writes calls in another way.
    @Test
    void aFormatThatDoesNotFitIsNotUsed() {
        engine.installProviders(actions("actions"));
        ChatModel chat = chat(TEMPLATE.replace("<|act|>{\"tool\"", "<|act|>{\"utensil\""));
        assertTrue(chat.prompt(REQUEST).text().contains("<tool_call>"), "tools are told as instructions");
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // on purpose
    @Test
    void whatFailsIsPassedOver() {
        engine.installProviders(
                new Provider("a", template -> {
                    throw new IllegalStateException("broken");
                }),
                new Provider("b", template -> {
                    throw new NoClassDefFoundError("gone");
                }),
                new Provider("c", template -> null),
                new Provider("d", template -> (Optional) Optional.of("<|act|>")),
                new Provider(
                        "e",
                        template -> Optional.of(new ReplyFormat(
                                new CallFormat(ACTION.shape(), ACTION.wording(), ACTION.between(), List.of(" "), false),
                                Reasoning.THINK))),
                new Provider("f", template -> Optional.of(new ReplyFormat(null, Reasoning.THINK))));
        assertEquals(CALL, read(chat(TEMPLATE), CALL).text(), "no provider, and no failure");
        engine.installProviders(actions("z"));
        assertCalled(read(chat(TEMPLATE), CALL));
    }

    @Test
    void marksThatAreNoneAreRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new CallFormat(ACTION.shape(), ACTION.wording(), ACTION.between(), List.of(), false));
        assertThrows(IllegalArgumentException.class, () -> new Reasoning("<a>", "\n"));
        assertThrows(IllegalArgumentException.class, () -> new NameThenTags("", "=", "", ">", false));
        assertThrows(IllegalArgumentException.class, () -> new JsonObject("tool", ""));
        assertThrows(IllegalArgumentException.class, () -> new NameThenJson(Optional.of(""), Optional.empty()));
        assertThrows(
                NullPointerException.class,
                () -> new CallFormat(ACTION.shape(), ACTION.wording(), null, ACTION.marks(), false));
    }
}
