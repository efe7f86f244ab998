package dev.tenon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.media.MediaKind;
import dev.tenon.platform.media.PictureBudget;
import dev.tenon.platform.media.PictureReader;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Pictures in messages, texts and conversations.
class MediaTests {
    private static final String PLACE = String.valueOf(MediaPart.PLACE);

    @TempDir
    static Path folder;

    private static Model model;
    private static Path red;
    private static Path blue;
    /// How many tokens a picture has.
    private static int tokens;

    private enum Answer {
        YES,
        NO
    }

    @BeforeAll
    static void load() throws IOException {
        model = Tenon.model(Seeing.write(folder.resolve("seeing.gguf")).toString())
                .companion(Seeing.COMPANION)
                .load();
        red = Seeing.picture(folder.resolve("red.png"), 0xff0000);
        blue = Seeing.picture(folder.resolve("blue.png"), 0x0000ff);
        PictureReader reader = new PictureReader(PictureBudget.defaults(), true);
        tokens = model.loaded().encode(reader.read(red)).tokens().length;
    }

    @AfterAll
    static void close() {
        model.close();
    }

    private static TextRequest greedy(TextRequest request) {
        return request.temperature(0).maxNewTokens(12).settings(s -> s.ignoreEndOfGeneration(true));
    }

    private static int prompt(ChatReply reply) {
        return reply.usage().promptTokens() + reply.usage().cachedTokens();
    }

    @Test
    void aMessageHasPictures() {
        ChatReply without = greedy(model.message("What is it?")).reply();
        ChatReply one = greedy(model.message("What is it?").media(red)).reply();
        ChatReply two =
                greedy(model.message("What is it?").media(red).media(blue)).reply();
        assertEquals(prompt(without) + tokens, prompt(one));
        assertEquals(prompt(without) + 2 * tokens, prompt(two));
        assertNotEquals(without.text(), one.text());
        assertEquals(one.text(), greedy(model.message("What is it?").media(red)).text());
        try (Stream<String> parts = greedy(model.message("What is it?").media(red)).stream()) {
            assertEquals(one.text(), String.join("", parts.toList()));
        }
    }

    @Test
    void aTextThatIsContinuedHasPlaces() {
        ChatReply inside =
                greedy(model.completion("The " + PLACE + " is").media(red)).reply();
        int begin = model.countTokens("");
        assertEquals(model.countTokens("The ") + tokens + model.countTokens(" is") - begin, prompt(inside));
        String first = greedy(model.completion("The is").media(red).media(blue)).text();
        assertEquals(
                first,
                greedy(model.completion(PLACE + PLACE + "The is").media(red).media(blue))
                        .text());
        assertEquals(
                first,
                greedy(model.completion(PLACE + "The is").media(red).media(blue))
                        .text());
        TenonException more = assertThrows(
                TenonException.class,
                () -> model.completion(PLACE + PLACE).media(red).text());
        assertEquals("STATE-002", more.code());
    }

    @Test
    void valuesAreOfPictures() {
        assertNotNull(model.message("Is it red?").media(red).into(Answer.class));
        assertNotNull(model.completion("Is it red?").media(red).into(Answer.class));
    }

    @Test
    void aConversationKeepsItsPictures() {
        Chat chat = model.chat().system("You see. ".repeat(10));
        greedy(chat.message("What is it?").media(red)).text();
        int counted = chat.countTokens();
        Path turns = folder.resolve("chat.json");
        Path state = folder.resolve("chat.state");
        chat.save(turns, state);
        ChatReply second = greedy(chat.message("And now?")).reply();
        assertTrue(second.usage().cachedTokens() > 0, second.usage().toString());
        assertTrue(prompt(second) > counted, second.usage().toString());
        for (Chat later : List.of(model.chat(turns), model.chat(turns, state))) {
            assertEquals(chat.turns().subList(0, 3), later.turns());
            assertEquals(counted, later.countTokens());
            assertEquals(second.text(), greedy(later.message("And now?")).text());
        }
    }

    @Test
    void turnsOfTheCallerHaveTheirOwn() throws IOException {
        ChatTurn turn =
                new ChatTurn(ChatTurn.USER, "What is it?", null, List.of(), null, null, List.of(MediaParts.of(red)));
        ChatRequest request = ChatRequest.builder().turn(turn).build();
        assertEquals(
                greedy(model.message("What is it?").media(red)).text(),
                greedy(model.request(request)).text());
        TextRequest made = model.request(request);
        assertThrows(IllegalStateException.class, () -> made.media(red));
    }

    @Test
    void whatTheModelDoesNotTakeIsRefused() throws IOException {
        MediaPart sound = new MediaPart("audio/wav", ByteBuffer.allocate(44));
        MediaPart damaged = new MediaPart("image/png", ByteBuffer.allocate(44));
        for (TextRequest request : List.of(model.message("What is it?"), model.completion("It is"))) {
            assertEquals("STATE-002", code(request.media(sound)));
        }
        for (TextRequest request : List.of(model.message("What is it?"), model.completion("It is"))) {
            assertEquals("MEDIA-001", code(request.media(damaged)));
        }
        try (Model blind = Tenon.load(folder.resolve("seeing.gguf").toString())) {
            for (TextRequest request : List.of(blind.message("What is it?"), blind.completion("It is"))) {
                assertEquals("STATE-002", code(request.media(red)));
            }
        }
        assertEquals(
                "IO-001",
                assertThrows(TenonException.class, () -> model.message("").media(folder.resolve("none.png")))
                        .code());
    }

    private static String code(TextRequest request) {
        return assertThrows(TenonException.class, request::text).code();
    }

    @Test
    void theCompanionBesideTheModelIsTaken() throws IOException {
        Path both = Files.createDirectory(folder.resolve("both"));
        String name = Seeing.write(both.resolve("seeing.gguf")).toString();
        TenonException none = assertThrows(
                TenonException.class, () -> Tenon.model(name).companion().load());
        assertEquals("IO-001", none.code());
        Files.copy(Seeing.COMPANION, both.resolve("mmproj-seeing.gguf"));
        try (Model text = Tenon.load(name);
                Model seeing = Tenon.model(name).companion().load()) {
            assertEquals(Set.of(), text.loaded().media());
            assertEquals(Set.of(MediaKind.PICTURE), seeing.loaded().media());
        }
    }

    @Test
    void aCompanionThatIsNotThereIsNamed() {
        TenonException missing = assertThrows(
                TenonException.class,
                () -> Tenon.model(folder.resolve("seeing.gguf").toString())
                        .companion(folder.resolve("none.gguf"))
                        .load());
        assertTrue(missing.text().contains("none.gguf"), missing.text());
    }

    @Test
    void addressesAreFilesOrData() throws IOException {
        byte[] bytes = Files.readAllBytes(red);
        MediaPart expected = new MediaPart("image/png", ByteBuffer.wrap(bytes));
        assertEquals(expected.bytes(), MediaParts.of(red.toUri()).bytes());
        String base64 = Base64.getEncoder().encodeToString(bytes);
        assertEquals(expected, MediaParts.of(URI.create("data:image/png;base64," + base64)));
        for (String wrong :
                List.of("https://example.org/cat.png", "cat.png", "data:image/png,abc", "data:image/png;base64,a")) {
            assertThrows(IllegalArgumentException.class, () -> MediaParts.of(URI.create(wrong)), wrong);
        }
    }
}
