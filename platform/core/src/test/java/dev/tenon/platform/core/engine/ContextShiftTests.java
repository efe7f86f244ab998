package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.MANY;
import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Generations that go on when the context is full.
@Timeout(600)
class ContextShiftTests extends GenerationFixture {
    private static final int CONTEXT = 32;
    private static final int KEEP = 4;

    private LoadedModel small() {
        return engine.load(request().toBuilder()
                .maxSequences(2)
                .contextLength(CONTEXT)
                .maxBatchTokens(7)
                .build());
    }

    private static GenerationRequest shifting(int keep, int max, int... prompt) {
        return GenerationRequest.builder()
                .prompt(prompt)
                .sampling(SamplingParams.greedy())
                .maxNewTokens(max)
                .ignoreEndOfGeneration(true)
                .contextShift(keep)
                .build();
    }

    /// What is generated after some tokens, each from nothing but the tokens that are left before it.
    private static List<Integer> expected(List<Integer> session, int keep, int count) {
        List<Integer> generated = new ArrayList<>();
        while (generated.size() < count) {
            int next = session.stream().mapToInt(token -> token).sum() % VOCAB;
            generated.add(next);
            session.add(next);
            if (session.size() >= CONTEXT && generated.size() < count) {
                session.subList(keep, keep + (session.size() - keep) / 2).clear();
            }
        }
        return generated;
    }

    private static List<Integer> tokens(int... prompt) {
        return new ArrayList<>(Arrays.stream(prompt).boxed().toList());
    }

    @ParameterizedTest
    @CsvSource({"10,4,false,false", "10,4,true,false", "10,4,false,true", "32,0,false,false", "32,30,true,false"})
    void whatFollowsIsWhatAFreshSessionGenerates(int length, int keep, boolean states, boolean deviceSamples) {
        device.states = states;
        device.chooses = deviceSamples;
        int[] prompt = IntStream.range(3, 3 + length).toArray();
        try (LoadedModel model = small();
                Session session = model.newSession();
                Session fresh = model.newSession()) {
            List<Integer> left = tokens(prompt);
            assertEquals(expected(left, keep, 100), generate(session, shifting(keep, 100, prompt)));
            assertEquals(left.size(), session.length());
            session.truncate(20);
            int[] given = left.subList(0, 20).stream().mapToInt(token -> token).toArray();
            List<Integer> more = generate(fresh, shifting(keep, 40, given));
            assertEquals(more.subList(1, 40), generate(session, shifting(keep, 39, more.getFirst())));
        }
    }

    @Test
    void sessionsShiftBesideEachOther() {
        try (LoadedModel model = small();
                Session a = model.newSession();
                Session b = model.newSession()) {
            Generation first = a.submit(shifting(KEEP, 200, 5, 6, 7));
            assertEquals(expected(tokens(9, 8), 0, 150), generate(b, shifting(0, 150, 9, 8)));
            Events events = new Events(Long.MAX_VALUE);
            first.subscribe(events);
            events.end.join();
            assertEquals(expected(tokens(5, 6, 7), KEEP, 200), events.tokens());
        }
    }

    @Test
    void withoutItTheContextEndsTheGeneration() {
        try (LoadedModel model = small();
                Session session = model.newSession()) {
            Usage usage = session.generate(shifting(-1, 100, 5, 6, 7), text -> {});
            assertEquals(FinishReason.LENGTH, usage.finish());
            assertEquals(CONTEXT - 3, usage.generatedTokens());
        }
    }

    @Test
    void moreToKeepThanTheContextHoldsIsRefused() {
        try (LoadedModel model = small();
                Session session = model.newSession()) {
            TenonException e =
                    assertThrows(TenonException.class, () -> session.submit(shifting(CONTEXT - 1, 1, 5, 6, 7)));
            assertEquals(ErrorCode.ARGUMENT, e.code());
            assertEquals(0, session.length());
            assertThrows(IllegalArgumentException.class, () -> shifting(-2, 1));
        }
    }

    /// Tokens that nobody heard are taken back as far as they are still there, and never more.
    @Test
    void aCancelledGenerationKeepsAtLeastWhatStays() throws Exception {
        try (LoadedModel model = small();
                Session session = model.newSession()) {
            Generation generation = session.submit(shifting(2, 3 * MANY, 5, 6, 7));
            generation.subscribe(new Events(10));
            while (device.steps.get() < 60) {
                Thread.onSpinWait(); // the generation is ahead of its subscriber by more than a context
            }
            generation.cancel();
            assertEquals(FinishReason.CANCELLED, result(generation).finish());
            assertEquals(2, session.length());
            assertEquals(FakeBackend.expected(new int[] {5, 6}, VOCAB, 3), generate(session, shifting(-1, 3)));
        }
    }
}
