package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Support;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.core.settings.EngineConfig;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A model's own head proposes: all that it guesses is right as long as its pages and the hidden states that it gets
/// are those of the sequence.
class HeadTests extends GenerationFixture {
    private static final int LONG = 120;

    @BeforeEach
    void withHead() {
        llama.heads = true;
    }

    private static LoadRequest.Builder head() {
        return request().toBuilder().contextLength(400).maxBatchTokens(24).settings(Map.of("speculate", "head"));
    }

    private Usage reply(Session session, int... prompt) {
        int[] all = IntStream.concat(IntStream.of(session.tokens()), IntStream.of(prompt))
                .toArray();
        List<Integer> tokens = new ArrayList<>();
        Usage usage =
                session.generate(greedy(LONG, prompt), GenerationListener.ofTokens(token -> tokens.add(token.id())));
        assertEquals(FakeBackend.expected(all, VOCAB, LONG), tokens);
        assertEquals(List.of(), device.wrongStates);
        return usage;
    }

    private static int[] prompt(int length) {
        return IntStream.rangeClosed(1, length).toArray();
    }

    @Test
    void allThatItProposesIsRight() {
        for (int length : new int[] {1, 3, 4, 5, 60}) {
            device.steps.set(0);
            try (LoadedModel model = engine.load(head().build());
                    Session session = model.newSession()) {
                Usage usage = reply(session, prompt(length));
                assertTrue(usage.acceptedTokens() > LONG / 4, usage.toString());
                assertEquals(usage.draftedTokens(), usage.acceptedTokens());
                assertTrue(device.steps.get() < LONG, device.steps + " steps");
                reply(session);
                assertEquals(0, device.unknownStates.get());
            }
        }
    }

    @Test
    void pagesThatAreTakenOverHaveItsRows() {
        try (LoadedModel model = engine.load(head().maxSequences(2).build());
                Session first = model.newSession();
                Session second = model.newSession()) {
            reply(first, prompt(61));
            Usage usage = reply(second, prompt(63));
            assertEquals(60, usage.cachedTokens());
            assertEquals(usage.draftedTokens(), usage.acceptedTokens());
            assertEquals(1, device.unknownStates.get(), "the one before the first token that ran");
        }
    }

    @Test
    void aSessionThatIsRestoredOrShortenedGoesOn() throws IOException {
        try (LoadedModel model = engine.load(head().maxSequences(2).build());
                Session first = model.newSession();
                Session second = model.newSession()) {
            reply(first, prompt(10));
            ByteArrayOutputStream saved = new ByteArrayOutputStream();
            first.save(saved);
            second.restore(new ByteArrayInputStream(saved.toByteArray()));
            Usage usage = reply(second, 7);
            assertEquals(usage.draftedTokens(), usage.acceptedTokens());
            first.truncate(50);
            usage = reply(first, 9, 9);
            assertEquals(usage.draftedTokens(), usage.acceptedTokens());
        }
    }

    @Test
    void aModelWithoutHeadIsRefused() {
        llama.heads = false;
        TenonException e = assertThrows(TenonException.class, () -> engine.load(head().build()));
        assertEquals(ErrorCode.CONFIG, e.code());
        assertTrue(e.getMessage().contains("ok_model.gguf has no head"), e.getMessage());
        engine.load(head().outputs(Graph.HIDDEN).build()).close();
        assertEquals(0, device.open.get());
    }

    @Test
    void aLoadedModelKeepsToWhatProposed() {
        llama.heads = false;
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            engine.configure(EngineConfig.of(Map.of("speculate", "head"), Map.of()));
            ((PlacedModel) model).loop().placed().reconsider();
            assertEquals(0, reply(session, prompt(3)).draftedTokens());
        }
    }

    @Test
    void aBackendThatCannotRunItIsRefused() {
        device.givenRows = new Support(Support.Level.NONE, "op given_rows is unknown");
        device.onCompile = () -> {
            throw new AssertionError("the model was compiled");
        };
        TenonException e = assertThrows(TenonException.class, () -> engine.load(head().build()));
        assertEquals(ErrorCode.BACKEND_UNSUPPORTED, e.code());
        assertTrue(
                e.getMessage().contains("backend device cannot run the head of ok_model.gguf: op given_rows"),
                e.getMessage());
        assertEquals(0, device.open.get());
    }
}
