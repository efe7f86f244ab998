package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Generations whose constraints take their time.
@Timeout(600)
class LateConstraintTests extends GenerationFixture {
    /// Any of 16 tokens, which depend on the one before; after each seventh token three that follow in any case.
    private static class Winding implements TokenConstraint {
        private final int end;
        private int last = 3;
        private int read;

        Winding(int end) {
            this.end = end;
        }

        void before(String call) {}

        @Override
        public void mask(long[] words) {
            before("mask");
            Arrays.fill(words, 0);
            words[0] = 0xffffL << (last % 40);
        }

        @Override
        public void accept(int token) {
            before("accept");
            int[] forced = forcedHere();
            boolean may = forced.length > 0 ? token == forced[0] : token >= last % 40 && token < last % 40 + 16;
            assertTrue(may, "token " + token + " after " + last);
            last = token;
            read++;
        }

        private int[] forcedHere() {
            int left = read % 10 < 7 ? 0 : 10 - read % 10;
            int first = last;
            return IntStream.rangeClosed(1, left).map(i -> (first + i) % 50).toArray();
        }

        @Override
        public int[] forced() {
            before("forced");
            return Arrays.stream(forcedHere()).limit(end - read).toArray();
        }

        @Override
        public boolean isComplete() {
            return true;
        }

        @Override
        public boolean isEnded() {
            return read >= end;
        }

        @Override
        public TokenConstraint copy() {
            return copyTo(new Winding(end));
        }

        final <T extends Winding> T copyTo(T copy) {
            Winding to = copy;
            to.last = last;
            to.read = read;
            return copy;
        }
    }

    /// One that is quick always, never, or now and then.
    private static final class Moody extends Winding {
        private final int end;
        private final String mood;
        private final SplittableRandom random = new SplittableRandom(1);
        private boolean quick;

        Moody(int end, String mood) {
            super(end);
            this.end = end;
            this.mood = mood;
        }

        @Override
        public boolean quick(boolean wanted) {
            quick = wanted;
            return !mood.equals("never");
        }

        @Override
        void before(String call) {
            if (quick && mood.equals("sometimes") && random.nextInt(3) == 0) {
                throw new LateException();
            }
        }

        @Override
        public TokenConstraint copy() {
            return copyTo(new Moody(end, mood));
        }
    }

    /// One that waits in a call after some tokens.
    private static class Waits extends Winding {
        private final String where;
        private final CountDownLatch comes;
        private final CountDownLatch until;
        private int calls;

        Waits(String where, CountDownLatch comes, CountDownLatch until) {
            super(1000);
            this.where = where;
            this.comes = comes;
            this.until = until;
        }

        @Override
        void before(String call) {
            if (call.equals(where) && ++calls == 4) {
                comes.countDown();
                try {
                    until.await();
                } catch (InterruptedException e) {
                    throw new TenonException(ErrorCode.INTERRUPTED, "The test's constraint was interrupted.", e);
                }
            }
        }

        @Override
        public TokenConstraint copy() {
            return copyTo(new Waits(where, comes, until));
        }
    }

    private static GenerationRequest.Builder constrained(TokenConstraint constraint, int most) {
        return GenerationRequest.builder()
                .prompt(PROMPT)
                .sampling(SamplingParams.greedy())
                .maxNewTokens(most)
                .ignoreEndOfGeneration(true)
                .constraint(constraint);
    }

    @ParameterizedTest
    @CsvSource({"mask,false", "mask,true", "accept,false", "accept,true", "forced,false"})
    void othersGoOnWhileAConstraintTakesItsTime(String where, boolean deviceSamples) throws Exception {
        device.chooses = deviceSamples;
        device.takesMasks = deviceSamples;
        CountDownLatch othersEnded = new CountDownLatch(1);
        Events waiting = new Events(Long.MAX_VALUE);
        try (LoadedModel model = model(5);
                Session slow = model.newSession()) {
            slow.submit(constrained(new Waits(where, new CountDownLatch(0), othersEnded), 60)
                            .build())
                    .subscribe(waiting);
            List<Events> others = new ArrayList<>();
            List<Session> sessions = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Session session = model.newSession();
                sessions.add(session);
                Events events = new Events(Long.MAX_VALUE);
                others.add(events);
                session.submit(greedy(60, 7 + i, 3)).subscribe(events);
            }
            for (int i = 0; i < 4; i++) {
                others.get(i).end.get();
                assertEquals(
                        FakeBackend.expected(new int[] {7 + i, 3}, EngineTests.VOCAB, 60),
                        others.get(i).tokens());
            }
            othersEnded.countDown();
            waiting.end.get();
            sessions.forEach(Session::close);
        }
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            assertEquals(generate(session, constrained(new Winding(1000), 60).build()), waiting.tokens());
        }
    }

    @Test
    void cancellingInterruptsTheConstraint() throws Exception {
        CountDownLatch comes = new CountDownLatch(1);
        Events events = new Events(Long.MAX_VALUE);
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Thread[] reading = new Thread[1];
            TokenConstraint constraint = new Waits("mask", comes, new CountDownLatch(1)) {
                @Override
                void before(String call) {
                    reading[0] = Thread.currentThread();
                    super.before(call);
                }

                @Override
                public TokenConstraint copy() {
                    return this;
                }
            };
            var generation = session.submit(constrained(constraint, 60).build());
            generation.subscribe(events);
            comes.await();
            generation.cancel();
            assertEquals(FinishReason.CANCELLED, result(generation).finish());
            reading[0].join(); // it ends when it has nothing to do any more
        }
    }

    private record Reply(List<Integer> tokens, FinishReason finish) {}

    private Reply reply(GenerationRequest request, String speculate, int sequences) {
        try (LoadedModel model = engine.load(EngineTests.request().toBuilder()
                        .maxSequences(sequences)
                        .contextLength(64)
                        .maxBatchTokens(24)
                        .settings(Map.of("speculate", speculate))
                        .build());
                Session session = model.newSession()) {
            List<GeneratedToken> tokens = new ArrayList<>();
            Usage usage = session.generate(request, GenerationListener.ofTokens(tokens::add));
            return new Reply(tokens.stream().map(GeneratedToken::id).toList(), usage.finish());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "off,false,1000,200,4",
        "off,true,1000,200,4",
        "ngram,false,1000,200,4",
        "ngram,true,1000,200,4",
        "ngram,false,48,48,-1",
        "ngram,true,50,50,-1",
        "off,false,37,60,-1",
        "off,true,44,60,-1"
    })
    void tokensDependOnNoDelay(String speculate, boolean deviceSamples, int end, int most, int keep) {
        device.chooses = deviceSamples;
        device.takesMasks = deviceSamples;
        for (float temperature : new float[] {0, 3}) {
            List<Reply> replies = new ArrayList<>();
            for (String mood : List.of("always", "never", "sometimes")) {
                GenerationRequest request = constrained(new Moody(end, mood), most)
                        .sampling(SamplingParams.greedyBuilder()
                                .temperature(temperature)
                                .seed(7)
                                .build())
                        .contextShift(keep)
                        .build();
                replies.add(reply(request, speculate, 1));
            }
            assertEquals(Math.min(end, most), replies.getFirst().tokens().size());
            assertEquals(
                    end <= most ? FinishReason.STOP : FinishReason.LENGTH,
                    replies.getFirst().finish());
            assertEquals(replies.getFirst(), replies.get(1));
            assertEquals(replies.getFirst(), replies.get(2));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLateConstraintThatFailsEndsItsGenerationAlone(boolean deviceSamples) throws Exception {
        device.chooses = deviceSamples;
        device.takesMasks = deviceSamples;
        Events failing = new Events(Long.MAX_VALUE);
        Events other = new Events(Long.MAX_VALUE);
        TokenConstraint broken = new Winding(1000) {
            private int calls;

            @Override
            void before(String call) {
                if (call.equals("mask") && ++calls == 5) {
                    throw new TenonException("GRAMMAR-003", "The mask takes too long.");
                }
            }

            @Override
            public TokenConstraint copy() {
                return this;
            }
        };
        try (LoadedModel model = model(2);
                Session first = model.newSession();
                Session second = model.newSession()) {
            first.submit(constrained(broken, 60).build()).subscribe(failing);
            second.submit(greedy(60, 7, 3)).subscribe(other);
            var failure = assertThrows(ExecutionException.class, failing.end::get);
            assertEquals("GRAMMAR-003", ((TenonException) failure.getCause()).code());
            other.end.get();
        }
        assertEquals(4, failing.tokens().size());
        assertEquals(60, other.tokens().size());
    }

    /// The late one has the pages that others need: they get them.
    @Test
    void othersGetThePagesOfALateOne() throws Exception {
        CountDownLatch comes = new CountDownLatch(1);
        CountDownLatch othersEnded = new CountDownLatch(1);
        int[] prompt = IntStream.range(0, 600).map(i -> i % EngineTests.VOCAB).toArray();
        Events waiting = new Events(Long.MAX_VALUE);
        try (LoadedModel model = engine.load(request().toBuilder()
                        .contextLength(1024)
                        .maxBatchTokens(100)
                        .build());
                Session slow = model.newSession();
                Session session = model.newSession()) {
            slow.submit(constrained(new Waits("mask", comes, othersEnded), 60)
                            .prompt(prompt)
                            .build())
                    .subscribe(waiting);
            comes.await();
            assertEquals(FakeBackend.expected(prompt, EngineTests.VOCAB, 300), generate(session, greedy(300, prompt)));
            othersEnded.countDown();
            waiting.end.get();
            assertEquals(60, waiting.tokens().size());
        }
    }

    @Test
    void thePromptRunsWhileTheFirstMaskIsMade() throws Exception {
        CountDownLatch promptRan = new CountDownLatch(1);
        device.onStep = promptRan::countDown;
        TokenConstraint constraint = new Winding(1000) {
            @Override
            void before(String call) {
                Waiting.await(promptRan);
            }

            @Override
            public TokenConstraint copy() {
                return this;
            }
        };
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            assertEquals(
                    20, generate(session, constrained(constraint, 20).build()).size());
        }
    }
}
