package dev.tenon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Requests and conversations with the embedded model.
class ModelTests {
    private static Model model;

    @TempDir
    Path folder;

    @BeforeAll
    static void load() {
        model = Story.load();
    }

    @AfterAll
    static void close() {
        model.close();
    }

    private static TextRequest story() {
        return model.completion("Once upon a time").maxNewTokens(20).seed(7);
    }

    /// {@return a request whose replies are given}
    private static TextRequest scripted(TextRequest request, String... replies) {
        return Story.scripted(model, request, replies);
    }

    @Test
    void theSameSeedGivesTheSameTextInEachWay() throws Exception {
        String text = story().text();
        assertTrue(text.length() > 20, text);
        List<String> parts = new ArrayList<>();
        ChatReply reply = story().forEach(parts::add);
        assertEquals(text, String.join("", parts));
        assertEquals(text, reply.text());
        assertEquals(ChatEnd.LENGTH, reply.end());
        assertEquals(20, reply.usage().generatedTokens());
        try (Stream<String> stream = story().stream()) {
            assertEquals(text, String.join("", stream.toList()));
        }
        assertEquals(text, String.join("", published(story().publisher(), Long.MAX_VALUE)));
        assertNotEquals(text, story().seed(8).text());
    }

    private static List<String> published(Flow.Publisher<String> publisher, long wanted) throws Exception {
        List<String> texts = new ArrayList<>();
        CompletableFuture<List<String>> all = new CompletableFuture<>();
        publisher.subscribe(new Flow.Subscriber<>() {
            private Flow.Subscription subscription;

            @Override
            public void onSubscribe(Flow.Subscription given) {
                subscription = given;
                given.request(wanted);
            }

            @Override
            public void onNext(String text) {
                texts.add(text);
                if (texts.size() == wanted) {
                    subscription.cancel();
                    all.complete(texts);
                }
            }

            @Override
            public void onError(Throwable failure) {
                all.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                all.complete(texts);
            }
        });
        return all.get();
    }

    @Test
    void whoStopsReadingEndsTheGeneration() throws Exception {
        assertEquals(3, published(endless().publisher(), 3).size());
        try (Stream<String> stream = endless().stream()) {
            assertEquals(3, stream.limit(3).count());
        }
        try (Stream<String> stream = endless().stream()) {
            Iterator<String> parts = stream.iterator();
            assertTrue(parts.hasNext());
        }
        for (int i = 0; i < 8; i++) { // all places are free again
            assertEquals(ChatEnd.LENGTH, story().maxNewTokens(1).reply().end());
        }
    }

    private static TextRequest endless() {
        return model.completion("Once upon a time")
                .settings(s -> s.ignoreEndOfGeneration(true).contextShift(4));
    }

    @Test
    void aFailureReachesWhoReads() {
        String tooLong = "Once upon a time. ".repeat(500);
        TenonException failure = assertThrows(
                TenonException.class, () -> model.completion(tooLong).text());
        assertEquals("LIMIT-001", failure.code());
        try (Stream<String> stream = model.completion(tooLong).stream()) {
            assertEquals(
                    "LIMIT-001",
                    assertThrows(TenonException.class, stream::toList).code());
        }
        Exception published = assertThrows(
                Exception.class, () -> published(model.completion(tooLong).publisher(), 1));
        assertEquals("LIMIT-001", ((TenonException) published.getCause()).code());
        IllegalStateException own = new IllegalStateException("the reader's");
        assertSame(
                own,
                assertThrows(
                        IllegalStateException.class,
                        () -> story().forEach(text -> {
                            throw own;
                        })));
    }

    @Test
    void aRequestIsForOneAnswer() throws Exception {
        TextRequest request = story();
        request.text();
        assertThrows(IllegalStateException.class, request::text);
        Flow.Publisher<String> publisher = story().publisher();
        published(publisher, Long.MAX_VALUE);
        Exception second = assertThrows(Exception.class, () -> published(publisher, Long.MAX_VALUE));
        assertTrue(second.getCause() instanceof IllegalStateException, second.toString());
    }

    @Test
    void aCancelledRequestKeepsWhatThereWas() {
        TextRequest request = endless();
        ChatReply reply = request.forEach(text -> request.cancel());
        assertEquals(ChatEnd.CANCELLED, reply.end());
        assertFalse(reply.text().isEmpty());
        TextRequest before = endless();
        before.cancel();
        assertEquals(ChatEnd.CANCELLED, before.reply().end());
    }

    @Test
    void timeIsLimited() {
        TextRequest request = endless().timeout(Duration.ofMillis(200));
        TenonException late = assertThrows(TenonException.class, request::text);
        assertEquals("JAVA-001", late.code());
        assertEquals(20, story().timeout(Duration.ofMinutes(5)).reply().usage().generatedTokens());
    }

    @Test
    void moreThreadsThanPlacesWaitForTheirTurn() throws Exception {
        String alone = story().text();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> texts = new ArrayList<>();
            for (int i = 0; i < 24; i++) {
                texts.add(threads.submit(() -> story().text()));
            }
            for (Future<String> text : texts) {
                assertEquals(alone, text.get());
            }
        }
    }

    @Test
    void aModelRunsOnTheDeviceThatIsNamed() {
        Model first = Tenon.model(Story.FILE.toString()).device("0").load();
        first.close();
        TenonException none = assertThrows(
                TenonException.class,
                () -> Tenon.model(Story.FILE.toString()).device("second").load());
        assertTrue(none.text().contains("has no device 'second'"), none.text());
    }

    @Test
    void whoWaitsForAPlaceIsInterruptedOrLate() throws Exception {
        try (Model narrow = Tenon.model(Story.FILE.toString())
                        .contextLength(256)
                        .requests(1)
                        .load();
                Stream<String> taken =
                        narrow
                                .completion("Once")
                                .settings(s -> s.ignoreEndOfGeneration(true).contextShift(4))
                                .stream()) {
            assertTrue(taken.iterator().hasNext()); // it runs
            TextRequest late = narrow.completion("Once").timeout(Duration.ofMillis(50));
            assertEquals(
                    "JAVA-001", assertThrows(TenonException.class, late::text).code());
            CompletableFuture<String> code = new CompletableFuture<>();
            Thread waiting = Thread.ofVirtual()
                    .start(() -> code.complete(assertThrows(
                                    TenonException.class,
                                    () -> narrow.completion("Once").text())
                            .code()));
            waiting.interrupt();
            assertEquals("STATE-004", code.get());
        }
    }

    @Test
    void aConversationKeepsItsTurnsAndGoesOnFromAFile() {
        Chat chat = model.chat().system("You are brief. ".repeat(40)); // some pages
        assertTrue(chat.countTokens() > 0);
        String first = scripted(chat.message("Hello"), "Good morning.").text();
        assertEquals("Good morning.", first);
        Path file = folder.resolve("chat.json");
        chat.save(file);
        Chat later = model.chat(file);
        assertEquals(chat.turns(), later.turns());
        ChatReply reply = scripted(later.message("And now?"), "Good night.").reply();
        assertEquals("Good night.", reply.text());
        assertTrue(reply.usage().cachedTokens() > 0, reply.usage().toString());
        assertEquals(
                List.of("system", "user", "assistant", "user", "assistant"),
                later.turns().stream().map(ChatTurn::role).toList());
        assertEquals(3, chat.turns().size());
    }

    @Test
    void aSavedChatGoesOnWithWhatWasComputed() throws IOException {
        Path file = folder.resolve("chat.json");
        Path state = folder.resolve("chat.state");
        int all;
        String expected;
        try (Model first = Story.load()) {
            Chat chat = first.chat().system("You are brief. ".repeat(40));
            scripted(chat.message("Hello"), "Good morning.").text();
            chat.save(file, state);
            all = chat.countTokens();
            expected = chat.message("And now?").temperature(0).maxNewTokens(12).text();
        }
        byte[] saved = Files.readAllBytes(state);
        Files.write(folder.resolve("cut.state"), Arrays.copyOf(saved, saved.length / 2));
        for (String name : List.of("chat.state", "cut.state", "none.state")) {
            try (Model second = Story.load()) { // its memory holds nothing
                ChatReply reply = second.chat(file, folder.resolve(name))
                        .message("And now?")
                        .temperature(0)
                        .maxNewTokens(12)
                        .reply();
                assertEquals(expected, reply.text(), name);
                int cached = reply.usage().cachedTokens();
                // All but how the model is told to begin its answer.
                assertTrue(name.equals("chat.state") ? cached > all - 5 && cached <= all : cached == 0, name + cached);
            }
        }
    }

    @Test
    void aFileThatIsNoConversationIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("wrong.json"), "{\"turns\": 3}");
        assertEquals(
                "IO-001",
                assertThrows(TenonException.class, () -> model.chat(file)).code());
        assertEquals(
                "IO-001",
                assertThrows(TenonException.class, () -> model.chat(folder.resolve("none.json")))
                        .code());
    }

    @Test
    void aCancelledAnswerIsNoTurn() {
        Chat chat = model.chat();
        TextRequest request = chat.message("Hello");
        request.cancel();
        assertEquals(ChatEnd.CANCELLED, request.reply().end());
        assertEquals(List.of(), chat.turns());
    }

    private enum Mood {
        HAPPY,
        SAD
    }

    private record Pet(@Description("what it is called") String name, int legs) {}

    private record Person(
            String name,
            int age,
            Mood mood,
            List<Pet> pets,
            Optional<LocalDate> born,
            boolean tall,
            Person[] children) {}

    /// JSON of it has an end: unlike a text, which a model at a high temperature may go on with.
    private record Measured(Mood mood, int legs, boolean tall) {}

    @Test
    void answersAreValuesWhateverTheModelWrites() {
        for (int seed = 0; seed < 5; seed++) {
            TextRequest request = model.message("A pet, please.").seed(seed).temperature(1.5f);
            assertNotNull(request.into(Measured.class).mood());
            Mood mood = model.completion("How are you?").seed(seed).into(Mood.class);
            assertTrue(Set.of(Mood.values()).contains(mood));
            assertNotNull(model.completion("A number:").seed(seed).into(Long.class));
        }
        String written = "{\"name\":\"Ann\",\"age\":41,\"mood\":\"HAPPY\",\"pets\":[{\"name\":\"Rex\",\"legs\":4}],"
                + "\"born\":\"1985-02-28\",\"tall\":true,\"children\":[]}";
        Person person = scripted(model.message("Who?"), written).into(Person.class);
        assertEquals(new Pet("Rex", 4), person.pets().getFirst());
        assertEquals(Optional.of(LocalDate.of(1985, 2, 28)), person.born());
        assertEquals(0, person.children().length);
    }

    @Test
    void aValueThatIsCutIsNone() {
        TenonException cut = assertThrows(
                TenonException.class,
                () -> scripted(model.message("Who?"), "{\"name\":\"Ann")
                        .maxNewTokens(3)
                        .into(Pet.class));
        assertEquals("JAVA-002", cut.code());
    }

    @Test
    void aGrammarBindsAText() {
        String text = model.completion("Is it true?")
                .format(TextFormat.grammar("root ::= \"yes\" | \"no\""))
                .text();
        assertTrue(Set.of("yes", "no").contains(text), text);
    }

    @Test
    void tokensAreCountedAsTheModelReadsThem() {
        assertEquals(
                model.loaded().tokenizer().encode("Once upon a time", true, false).length,
                model.countTokens("Once upon a time"));
        assertEquals(1024, model.contextLength());
    }

    @Test
    void modelsShareAnEngine() {
        Model other = Story.load();
        assertEquals(
                story().text(),
                other.completion("Once upon a time").maxNewTokens(20).seed(7).text());
        other.close();
        other.close();
        assertEquals(
                "STATE-001",
                assertThrows(
                                TenonException.class,
                                () -> other.completion("Once").text())
                        .code());
        assertFalse(story().text().isEmpty());
    }

    @Test
    void aModelThatIsNowhereIsNamed() {
        TenonException missing = assertThrows(
                TenonException.class,
                () -> Tenon.load(folder.resolve("none.gguf").toString()));
        assertEquals("IO-001", missing.code());
        assertEquals(
                "CLI-001",
                assertThrows(TenonException.class, () -> Tenon.load("nowhere:some/model"))
                        .code());
    }
}
