package dev.tenon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Tools that a scripted model calls.
class ToolsTests {
    private static final String CALL = "<tool_call>\n{\"name\": \"%s\", \"arguments\": %s}\n</tool_call>";
    private static Model model;

    private final Weather weather = new Weather();

    @BeforeAll
    static void load() {
        model = Story.load();
    }

    @AfterAll
    static void close() {
        model.close();
    }

    private enum Unit {
        CELSIUS,
        FAHRENHEIT
    }

    private record Place(String city, String country) {}

    private record Report(double degrees, Unit unit) {}

    private static class Weather {
        private final List<Place> asked = new ArrayList<>();

        @Description("Tells the weather.")
        Report weather(@Description("where") Place place, Unit unit) {
            asked.add(place);
            return new Report(21.5, unit);
        }

        @Description(value = "Fails.", name = "storm")
        String fail() {
            throw new IllegalStateException("the station is closed");
        }

        @Description("Breaks.")
        void breakDown() {
            throw new StackOverflowError();
        }

        String hidden() {
            return "no tool";
        }
    }

    private static TextRequest scripted(TextRequest request, String... replies) {
        return Story.scripted(model, request, replies);
    }

    private static String call(String name, String arguments) {
        return CALL.formatted(name, arguments);
    }

    @Test
    void theModelHearsWhatAToolReturned() {
        Chat chat = model.chat().tools(weather);
        String place = "{\"place\": {\"city\": \"Paris\", \"country\": \"France\"}, \"unit\": \"CELSIUS\"}";
        ChatReply reply = scripted(chat.message("How warm is it?"), call("weather", place), "It is warm.")
                .reply();
        assertEquals("It is warm.", reply.text());
        assertEquals(List.of(new Place("Paris", "France")), weather.asked);
        assertEquals(
                List.of("user", "assistant", "tool", "assistant"),
                chat.turns().stream().map(ChatTurn::role).toList());
        assertEquals(
                "{\"degrees\":21.5,\"unit\":\"CELSIUS\"}", chat.turns().get(2).text());
    }

    @Test
    void theModelMayMendAWrongCall() {
        Chat chat = model.chat().tools(weather);
        scripted(
                        chat.message("How warm is it?"),
                        call(
                                "weather",
                                "{\"place\": {\"city\": \"Paris\", \"country\": \"France\"}, \"unit\": \"KELVIN\"}"),
                        call("weather", "{\"unit\": \"CELSIUS\"}"),
                        call("storm", "{}"),
                        "I do not know.")
                .text();
        List<String> results = chat.turns().stream()
                .filter(turn -> turn.role().equals(ChatTurn.TOOL))
                .map(ChatTurn::text)
                .toList();
        assertTrue(results.get(0).contains("error") && results.get(0).contains("KELVIN"), results.get(0));
        assertTrue(results.get(1).contains("'place' is missing"), results.get(1));
        assertTrue(results.get(2).contains("the station is closed"), results.get(2));
        assertEquals(List.of(), weather.asked);
    }

    @Test
    void anErrorOfAToolIsPassedOn() {
        Chat chat = model.chat().tools(weather);
        assertThrows(
                StackOverflowError.class,
                () -> scripted(chat.message("Break"), call("breakDown", "{}")).text());
        assertEquals(List.of(), chat.turns());
    }

    @Test
    void theRoundsOfCallsAreLimited() {
        Chat chat = model.chat().tools(weather);
        TextRequest request = scripted(chat.message("Go on"), call("storm", "{}"), call("storm", "{}"))
                .toolRounds(1);
        assertEquals(
                "JAVA-003", assertThrows(TenonException.class, request::text).code());
        assertEquals(List.of(), chat.turns());
    }

    @Test
    void toolsAndAValueGoTogether() {
        String place = "{\"place\": {\"city\": \"Oslo\", \"country\": \"Norway\"}, \"unit\": \"CELSIUS\"}";
        TextRequest request = scripted(
                model.chat().tools(weather).message("How warm is it?"),
                call("weather", place),
                "Warm.",
                "{\"degrees\":21.5,\"unit\":\"CELSIUS\"}");
        assertEquals(new Report(21.5, Unit.CELSIUS), request.into(Report.class));
    }

    @Test
    void theListenerHearsCallsAndOneEnd() {
        List<String> heard = new ArrayList<>();
        scripted(model.chat().tools(weather).message("Storm?"), call("storm", "{}"), "Yes.")
                .reply(new ChatReply.Collector() {
                    @Override
                    public void text(String text) {
                        heard.add("text");
                    }

                    @Override
                    public void callBegins(int index, String id, String name) {
                        super.callBegins(index, id, name);
                        heard.add(name);
                    }

                    @Override
                    public void ends(ChatEnd end, Usage usage) {
                        heard.add("end");
                    }
                });
        assertEquals("storm", heard.getFirst());
        assertEquals("end", heard.getLast());
        assertEquals(1, heard.stream().filter("end"::equals).count());
    }

    @Test
    void whoAnswersCallsHasThemInTheReply() {
        ChatRequest request = ChatRequest.builder()
                .user("Is it warm?")
                .tools(List.of(new Tool("weather", "Tells the weather.", null)))
                .format(TextFormat.schema("{\"type\":\"boolean\"}"))
                .build();
        ChatReply called =
                scripted(model.request(request), call("weather", "{}")).reply();
        assertEquals(ChatEnd.CALLS, called.end());
        ChatRequest next = request.toBuilder()
                .turn(called.turn())
                .turn(ChatTurn.result(called.calls().getFirst(), "warm"))
                .build();
        List<String> heard = new ArrayList<>();
        ChatReply reply = scripted(model.request(next), "It is warm.", "true").forEach(heard::add);
        assertEquals("true", reply.text());
        assertEquals("true", String.join("", heard));
    }

    private static class Twice {
        @Description("once")
        void go() {}

        @Description("again")
        void go(int number) {}
    }

    private static class Untyped {
        @Description("of anything")
        void go(Object anything) {}
    }

    @Test
    void whatIsNoToolIsRefusedAtOnce() {
        Chat chat = model.chat();
        assertTrue(refusal(chat, "a text").contains("has no tools"));
        assertTrue(refusal(chat, new Twice()).contains("two tools 'go'"));
        assertTrue(refusal(chat, new Untyped()).contains("no JSON Schema of java.lang.Object"));
        assertSame(chat, chat.tools(weather), "what was refused is forgotten");
        chat.message("Hello");
    }

    private static String refusal(Chat chat, Object tools) {
        return assertThrows(IllegalArgumentException.class, () -> chat.tools(tools))
                .getMessage();
    }
}
