package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.Channels;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import dev.tenon.api.chat.CallFormat.Notation;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormatProvider;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.platform.chat.CallWriter;
import dev.tenon.platform.chat.CollectedReply;
import dev.tenon.platform.chat.ReplyParser;
import dev.tenon.platform.chat.TemplateFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What every [ReplyFormatProvider] has to keep to: calls that are written in its format are read back.
///
/// JUnit makes the object, so what it is about comes through [#select]; one run at a time.
final class ReplyFormatContract {
    /// What to test.
    ///
    /// @param provider the provider
    /// @param arguments by id: for this provider a template that it knows, or the file of one
    record Selection(ReplyFormatProvider provider, Map<String, String> arguments) {}

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String BEFORE = "I look.";
    private static final String AFTER = "Done.";
    private static final List<String> UNRELATED = List.of(
            "",
            "{{ messages }}",
            "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}",
            "{{ tools }} no Jinja {% \u00e9\ud83d\ude00 \0",
            "x".repeat(100_000));

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    private ReplyFormatProvider provider() {
        return selection.provider();
    }

    private String template() {
        String id = provider().id();
        String given = selection.arguments().get(id);
        if (given == null) {
            return abort("it needs a chat template: give one that it knows by --argument " + id + "=FILE-OR-TEXT");
        }
        try {
            Path file = Path.of(given);
            return Files.isRegularFile(file) ? Files.readString(file) : given;
        } catch (InvalidPathException e) {
            return given; // a text
        } catch (IOException e) {
            throw new UncheckedIOException("the template of --argument " + id + " cannot be read", e);
        }
    }

    private ReplyFormat format() {
        Optional<ReplyFormat> format = provider().format(template());
        assertNotNull(format, "null; expected an Optional");
        return format.orElseThrow(() -> new AssertionError("it knows no format of the template that it was given"));
    }

    @Test
    void theIdIsLowerCaseLettersDigitsAndDashes() {
        assertTrue(provider().id().matches("[a-z0-9-]+"), provider()::id);
        assertEquals(provider().id(), provider().id(), "the id is always the same");
    }

    @TestFactory
    Stream<DynamicTest> aTemplateOfOtherModelsHasNoFormat() {
        return UNRELATED.stream()
                .map(template -> DynamicTest.dynamicTest(
                        template.length() > 80 ? template.length() + " times x" : "'" + template + "'",
                        () -> assertEquals(Optional.empty(), provider().format(template))));
    }

    @Test
    void aTemplateAlwaysHasTheSameFormat() {
        ReplyFormat format = format();
        assertEquals(format, format());
        assertEquals(format, CompletableFuture.supplyAsync(this::format).join(), "on another thread");
    }

    @Test
    void aCallIsReadBack() {
        requireRead(format(), "", call("look", "{\"text\":\"a b\",\"count\":-3}"));
    }

    @Test
    void aCallWithoutArgumentsIsReadBack() {
        requireRead(format(), "", call("now", "{}"));
    }

    @Test
    void severalCallsAreReadBack() {
        ReplyFormat format = format();
        assumeTrue(format.calls().between().isPresent(), "a reply has one call");
        requireRead(format, "", call("look", "{\"text\":\"a\"}"), call("now", "{}"), call("look", "{\"text\":\"b\"}"));
    }

    @Test
    void nestedValuesAreReadBack() {
        requireRead(
                format(),
                "",
                call("look", "{\"nested\":{\"k\":{\"l\":[\"m\",1.5,false,{}]}},\"list\":[[],[\"x\",null]]}"));
    }

    @Test
    void stringsOfAnyLettersAreReadBack() {
        requireRead(
                format(),
                "",
                call("look", "{\"text\":\"\u00e9\ud83d\ude00 \\\"b\\\" 'c' \\\\ d\\n\\te {[(1, true)]}\"}"));
    }

    /// But for those that end a string in notations without escapes.
    @Test
    void stringsThatContainTheMarksAreReadBack() throws JsonProcessingException {
        ReplyFormat format = format();
        CallFormat calls = format.calls();
        assumeTrue(!(calls.shape() instanceof Channels), "marks end messages");
        List<String> ends = new ArrayList<>();
        if (calls.shape() instanceof NameThenTags tags) {
            ends.add(tags.valueEnd());
        } else if (calls.shape() instanceof NameThenLiterals literals && literals.notation() == Notation.GEMMA) {
            ends.add("<|\"|>");
        }
        String marks = Stream.concat(
                        calls.marks().stream(),
                        Stream.of(format.reasoning().open(), format.reasoning().close()))
                .filter(mark -> ends.stream().noneMatch(mark::contains))
                .collect(Collectors.joining(" "));
        requireRead(format, "", call("look", JSON.writeValueAsString(Map.of("text", "a " + marks + " b"))));
    }

    @Test
    void textAroundCallsIsAnswer() {
        ReplyFormat format = format();
        assumeTrue(!format.calls().bare(), "a reply is either calls or an answer");
        assumeTrue(!(format.calls().shape() instanceof Channels), "messages are apart");
        requireRead(format, BEFORE + AFTER, call("look", "{\"text\":\"a\"}"));
    }

    @Test
    void reasoningIsTakenApart() {
        ReplyFormat format = format();
        assumeTrue(!(format.calls().shape() instanceof Channels), "it is a channel");
        String text = format.reasoning().open() + "Hm, " + format.reasoning().close() + "Yes.";
        for (int cut = 0; cut <= text.length(); cut++) {
            CollectedReply reply = read(format, text.substring(0, cut), text.substring(cut));
            assertEquals("Hm,", reply.reasoning().strip(), text);
            assertEquals("Yes.", reply.content().strip(), text);
        }
    }

    private static ToolCall call(String name, String arguments) {
        return new ToolCall("", name, arguments);
    }

    /// Cuts the reply at each place, and also at all places.
    private static void requireRead(ReplyFormat format, String answer, ToolCall... calls) {
        String written = CallWriter.write(format.calls(), List.of(calls));
        String reply = answer.isEmpty() ? written : BEFORE + "\n" + written + "\n" + AFTER;
        for (int cut = 0; cut <= reply.length(); cut++) {
            requireSame(answer, List.of(calls), read(format, reply.substring(0, cut), reply.substring(cut)), reply);
        }
        requireSame(answer, List.of(calls), read(format, reply.split("")), reply);
    }

    private static CollectedReply read(ReplyFormat format, String... parts) {
        CollectedReply reply = new CollectedReply();
        ReplyParser parser =
                ReplyParser.of(new TemplateFormat(format, true, true), "", List.of(tool("look"), tool("now")), reply);
        List.of(parts).forEach(parser::text);
        parser.finish();
        return reply;
    }

    private static Map<String, Object> tool(String name) {
        Map<String, Object> types = new HashMap<>();
        Map.of("text", "string", "count", "integer", "nested", "object", "list", "array")
                .forEach((key, type) -> types.put(key, Map.of("type", type)));
        Map<String, Object> parameters = Map.of("type", "object", "properties", types);
        return Map.of("type", "function", "function", Map.of("name", name, "parameters", parameters));
    }

    private static void requireSame(String answer, List<ToolCall> expected, CollectedReply reply, String text) {
        List<String> read = reply.calls().stream()
                .map(call -> call.name() + " " + json(call.arguments().toString()))
                .toList();
        List<String> calls = expected.stream()
                .map(call -> call.name() + " " + json(call.arguments()))
                .toList();
        assertEquals(calls, read, () -> "calls of the reply " + text);
        assertEquals(answer, reply.content().replace("\n", ""), () -> "answer of the reply " + text);
        assertEquals("", reply.reasoning(), () -> "reasoning of the reply " + text);
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new AssertionError("'" + text + "' is no JSON", e);
        }
    }
}
