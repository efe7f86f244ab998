package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Sessions that are saved and restored, on a device that adds up what stands in its pages or states.
class SavedSessionTests extends GenerationFixture {
    private static final int[] LONG = IntStream.range(3, 33).toArray();

    private LoadedModel model(int context, int sequences) {
        return engine.load(request().toBuilder()
                .contextLength(context)
                .maxSequences(sequences)
                .build());
    }

    private static byte[] saved(Session session) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            session.save(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void restore(Session session, byte... bytes) {
        try {
            session.restore(new ByteArrayInputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A session after a prompt and ten tokens of a reply.
    private static byte[] example(LoadedModel model) {
        try (Session session = model.newSession()) {
            generate(session, greedy(10, LONG));
            return saved(session);
        }
    }

    private static String refusal(Session session, byte... bytes) {
        TenonException e = assertThrows(TenonException.class, () -> restore(session, bytes));
        assertEquals(ErrorCode.SAVED_SESSION, e.code());
        assertEquals(0, session.length());
        return e.getMessage();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRestoredSessionGoesOnWithoutRunningItsTokens(boolean states) {
        device.states = states;
        byte[] bytes;
        try (LoadedModel model = model(100, 1)) {
            bytes = example(model);
        }
        try (LoadedModel model = model(100, 2);
                Session other = model.newSession();
                Session session = model.newSession()) {
            generate(other, greedy(5, 9, 8, 7));
            restore(session, bytes);
            assertEquals(LONG.length + 10, session.length());
            device.batchSizes.clear();
            List<Integer> tokens = new ArrayList<>();
            Usage usage = session.generate(greedy(20, 200, 201), GenerationListener.ofTokens(t -> tokens.add(t.id())));
            int[] all = Arrays.copyOf(LONG, LONG.length + 12);
            List<Integer> reply = FakeBackend.expected(LONG, VOCAB, 10);
            for (int i = 0; i < 10; i++) {
                all[LONG.length + i] = reply.get(i);
            }
            all[LONG.length + 10] = 200;
            all[LONG.length + 11] = 201;
            assertEquals(FakeBackend.expected(all, VOCAB, 20), tokens);
            // The last token of the reply had not run.
            assertEquals(3, usage.promptTokens());
            assertEquals(LONG.length + 9, usage.cachedTokens());
            assertEquals(3, device.batchSizes.getFirst());
        }
    }

    @Test
    void whereNoPagesAreFreeTheTokensRunAgain() {
        byte[] bytes;
        try (LoadedModel model = model(100, 1)) {
            bytes = example(model);
        }
        // Four sequences share the memory of one context.
        try (LoadedModel model =
                        engine.load(request().toBuilder().contextLength(48).build());
                Session large = model.newSession();
                Session session = model.newSession()) {
            generate(large, greedy(1, new Random(1).ints(47, 0, VOCAB).toArray()));
            int steps = device.steps.get();
            restore(session, bytes);
            assertEquals(LONG.length + 10, session.tokens().length);
            assertEquals(steps, device.steps.get());
            List<Integer> reply = FakeBackend.expected(LONG, VOCAB, 14);
            assertEquals(reply.subList(10, 14), generate(session, greedy(4)));
        }
    }

    @Test
    void emptyAndShortenedSessionsAreSavedToo() {
        try (LoadedModel model = model(100, 2);
                Session session = model.newSession();
                Session next = model.newSession()) {
            restore(next, saved(session));
            assertEquals(0, next.length());
            generate(session, greedy(10, LONG));
            session.truncate(20);
            restore(next, saved(session));
            assertEquals(20, next.length());
            int[] first = Arrays.copyOf(LONG, 20);
            int[] all = Arrays.copyOf(first, 21);
            all[20] = 99;
            assertEquals(FakeBackend.expected(all, VOCAB, 5), generate(next, greedy(5, 99)));
        }
    }

    @Test
    void onlyAnEmptySessionIsRestored() {
        try (LoadedModel model = model(100, 2);
                Session session = model.newSession()) {
            byte[] bytes = example(model);
            generate(session, greedy(1, 1));
            TenonException e = assertThrows(TenonException.class, () -> restore(session, bytes));
            assertEquals(ErrorCode.ARGUMENT, e.code());
            assertEquals(2, session.length());
        }
    }

    @Test
    void anotherBackendOrContextRefusesIt() {
        byte[] bytes;
        try (LoadedModel model = model(100, 1)) {
            bytes = example(model);
        }
        try (LoadedModel model = model(32, 1);
                Session session = model.newSession()) {
            OutOfResourcesException e = assertThrows(OutOfResourcesException.class, () -> restore(session, bytes));
            assertEquals(ErrorCode.CONTEXT_LENGTH, e.code());
            assertEquals(0, session.length());
        }
        device.states = true;
        try (LoadedModel model = model(100, 1);
                Session session = model.newSession()) {
            String message = refusal(session, bytes);
            assertTrue(message.contains("another backend"), message);
        }
    }

    /// Whatever is changed in the bytes, or is missing of them, a session stays empty and of use.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void changedBytesAreRefused(boolean states) {
        device.states = states;
        try (LoadedModel model = model(100, 1)) {
            byte[] bytes = example(model);
            try (Session session = model.newSession()) {
                for (int i = 0; i < bytes.length; i++) {
                    byte[] flipped = bytes.clone();
                    flipped[i] ^= (byte) (1 << i % 8);
                    refuses(session, flipped, "a bit of byte " + i);
                    refuses(session, Arrays.copyOf(bytes, i), "the first " + i);
                }
                Random random = new Random(3);
                for (int n = 0; n < 2000; n++) {
                    byte[] changed = bytes.clone();
                    for (int i = random.nextInt(8); i >= 0; i--) {
                        changed[random.nextInt(bytes.length)] = (byte) random.nextInt();
                    }
                    if (!Arrays.equals(bytes, changed)) {
                        refuses(session, changed, "mutation " + n);
                    }
                }
                assertEquals(FakeBackend.expected(LONG, VOCAB, 5), generate(session, greedy(5, LONG)));
                session.truncate(0);
                restore(session, bytes);
                assertEquals(LONG.length + 10, session.length());
            }
        }
    }

    private static void refuses(Session session, byte[] bytes, String what) {
        TenonException e = assertThrows(TenonException.class, () -> restore(session, bytes), what);
        boolean known = e.code().equals(ErrorCode.SAVED_SESSION) || e.code().equals(ErrorCode.CONTEXT_LENGTH);
        assertTrue(known, () -> what + ": " + e);
        assertEquals(0, session.length(), what);
    }

    @Test
    void aTargetThatTakesNothingIsToldAndTheSessionGoesOn() {
        try (LoadedModel model = model(100, 1);
                Session session = model.newSession()) {
            generate(session, greedy(10, LONG));
            OutputStream full = new OutputStream() {
                @Override
                public void write(int value) throws IOException {
                    throw new IOException("full");
                }
            };
            assertThrows(IOException.class, () -> session.save(full));
            assertEquals(FakeBackend.expected(LONG, VOCAB, 15).subList(10, 15), generate(session, greedy(5)));
        }
    }
}
