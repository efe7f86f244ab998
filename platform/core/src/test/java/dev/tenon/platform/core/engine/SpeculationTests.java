package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Generations to which tokens are proposed, on a device that adds up what stands in its pages: a proposal that is
/// taken and wrong, or left in the cache, gives wrong tokens. Greedy texts of it come again after 84 tokens.
class SpeculationTests extends GenerationFixture {
    private static final int LONG = 300;
    private static final Map<String, String> NGRAM = Map.of("speculate", "ngram");

    SpeculationTests() {
        llama.heads = true;
    }

    private LoadedModel model(int sequences, Map<String, String> settings) {
        return engine.load(request().toBuilder()
                .maxSequences(sequences)
                .contextLength(400)
                .maxBatchTokens(24)
                .settings(settings)
                .build());
    }

    private static Map<String, String> draft() {
        return Map.of("speculate", "draft", "draft.model", request().path().toString());
    }

    private static Map<String, String> settings(String method) {
        return method.equals("draft") ? draft() : Map.of("speculate", method);
    }

    private static SamplingParams.Builder random(long seed) {
        return SamplingParams.builder()
                .temperature(2)
                .topK(4)
                .topP(1)
                .minP(0)
                .repeatLastN(0)
                .seed(seed);
    }

    private static GenerationRequest.Builder ask(SamplingParams how, int most, int... prompt) {
        return GenerationRequest.builder()
                .prompt(prompt)
                .sampling(how)
                .maxNewTokens(most)
                .ignoreEndOfGeneration(true);
    }

    /// What a generation gave.
    private record Reply(List<GeneratedToken> tokens, Usage usage) {
        List<Integer> ids() {
            return tokens.stream().map(GeneratedToken::id).toList();
        }
    }

    private static Reply reply(Session session, GenerationRequest request) {
        List<GeneratedToken> tokens = new ArrayList<>();
        Usage usage = session.generate(request, GenerationListener.ofTokens(tokens::add));
        return new Reply(tokens, usage);
    }

    private Reply reply(Map<String, String> settings, GenerationRequest request) {
        try (LoadedModel model = model(1, settings);
                Session session = model.newSession()) {
            return reply(session, request);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ngram", "draft", "head"})
    void greedyTextsStayTheSameInFewerSteps(String method) {
        Reply reply = reply(settings(method), greedy(LONG, PROMPT));
        assertEquals(FakeBackend.expected(PROMPT, VOCAB, LONG), reply.ids());
        Usage usage = reply.usage();
        assertTrue(usage.acceptedTokens() > 0, usage.toString());
        assertTrue(usage.acceptedTokens() <= usage.draftedTokens(), usage.toString());
        assertEquals(LONG, usage.generatedTokens());
    }

    @Test
    void withoutTheSettingNothingIsProposed() {
        Reply reply = reply(Map.of(), greedy(LONG, PROMPT));
        assertEquals(0, reply.usage().draftedTokens());
        assertEquals(LONG, device.steps.get());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ngram", "draft", "head"})
    void theSameSeedGivesTheSameTextOnHostAndDevice(String method) {
        int drafted = 0;
        for (boolean chooses : new boolean[] {false, true}) {
            device.chooses = chooses;
            for (int seed = 0; seed < 10; seed++) {
                GenerationRequest request =
                        ask(random(seed).build(), 100, PROMPT).build();
                Reply plain = reply(Map.of(), request);
                Reply reply = reply(settings(method), request);
                assertEquals(plain.ids(), reply.ids(), "seed " + seed + ", on the device: " + chooses);
                drafted += reply.usage().draftedTokens();
            }
        }
        assertTrue(drafted > 0);
    }

    @Test
    void penaltiesAndLogProbabilitiesAreThoseOfTheTextSoFar() {
        SamplingParams penalised = random(7)
                .repeatLastN(5)
                .repeatPenalty(1.5f)
                .presencePenalty(0.5f)
                .build();
        List<Integer> lengths = new ArrayList<>();
        GenerationRequest request = ask(penalised, 100, PROMPT)
                .logProbabilities(3)
                .processors(List.of((history, logits) -> {
                    lengths.add(history.length());
                    logits[history.token(history.length() - 1) % VOCAB] += 0.5f;
                }))
                .build();
        Reply plain = reply(Map.of(), request);
        List<Integer> before = List.copyOf(lengths);
        lengths.clear();
        Reply reply = reply(draft(), request);
        assertEquals(plain.tokens(), reply.tokens());
        assertEquals(before, lengths);
        assertTrue(reply.usage().draftedTokens() > 0);
    }

    @Test
    void sessionsOfABatchGetTheirOwnTokensWhereRoomAndPagesAreShort() throws Exception {
        try (LoadedModel model = engine.load(request().toBuilder()
                .maxSequences(6)
                .contextLength(120)
                .maxBatchTokens(9)
                .settings(NGRAM)
                .build())) {
            List<Session> sessions = new ArrayList<>();
            List<Generation> generations = new ArrayList<>();
            List<Events> events = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                sessions.add(model.newSession());
                events.add(new Events(Long.MAX_VALUE));
                // Every other one repeats itself soon.
                int[] prompt = i % 2 == 0 ? new int[] {0, 0, 0, 0} : new int[] {i, i + 1, 3};
                generations.add(sessions.get(i).submit(greedy(100, prompt)));
                generations.get(i).subscribe(events.get(i));
            }
            for (int i = 0; i < 6; i++) {
                int[] prompt = i % 2 == 0 ? new int[] {0, 0, 0, 0} : new int[] {i, i + 1, 3};
                result(generations.get(i));
                events.get(i).end.get();
                assertEquals(
                        FakeBackend.expected(prompt, VOCAB, 100), events.get(i).tokens());
            }
            sessions.forEach(Session::close);
        }
    }

    @Test
    void aSessionGoesOnAfterProposalsAsAfterAnyTokens() {
        try (LoadedModel model = model(1, draft());
                Session session = model.newSession()) {
            List<Integer> expected = FakeBackend.expected(PROMPT, VOCAB, 120);
            List<Integer> heard =
                    new ArrayList<>(reply(session, greedy(40, PROMPT)).ids());
            assertEquals(PROMPT.length + 40, session.length());
            while (heard.size() < 120) {
                heard.addAll(reply(session, greedy(40)).ids());
            }
            assertEquals(expected, heard);
        }
    }

    @Test
    void aCancelledGenerationKeepsWhatWasHeard() {
        try (LoadedModel model = model(1, draft());
                Session session = model.newSession()) {
            List<Integer> heard = new ArrayList<>();
            Usage usage = session.generate(greedy(LONG, PROMPT), GenerationListener.ofTokens(token -> {
                heard.add(token.id());
                if (heard.size() == 20) {
                    session.cancel();
                }
            }));
            assertEquals(FinishReason.CANCELLED, usage.finish());
            heard.addAll(reply(session, greedy(50)).ids());
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, heard.size()), heard);
        }
    }

    @Test
    void aFullContextEndsOrShiftsAsWithoutProposals() {
        for (int keep : new int[] {-1, 2}) {
            GenerationRequest request = ask(SamplingParams.greedy(), 1000, PROMPT)
                    .contextShift(keep)
                    .build();
            Reply plain = reply(Map.of(), request);
            for (Map<String, String> settings : List.of(NGRAM, draft(), Map.of("speculate", "head"))) {
                Reply reply = reply(settings, request);
                assertEquals(plain.ids(), reply.ids());
                assertEquals(plain.usage().finish(), reply.usage().finish());
            }
        }
    }

    @Test
    void stopsEndWithinProposals() {
        String text;
        try (LoadedModel model = model(1, Map.of())) {
            text = model.tokenizer()
                    .decode(FakeBackend.expected(PROMPT, VOCAB, 84).stream()
                            .mapToInt(token -> token)
                            .toArray());
        }
        String letter = text.substring(20).replaceAll("[^a-zA-Z]", "").substring(0, 1);
        GenerationRequest request = GenerationRequest.builder()
                .prompt(PROMPT)
                .sampling(SamplingParams.greedy())
                .maxNewTokens(LONG)
                .stop(List.of(letter))
                .build();
        Reply plain = reply(Map.of(), request);
        assertEquals(FinishReason.STOP, plain.usage().finish());
        assertEquals(plain.ids(), reply(draft(), request).ids());
    }

    @Test
    void modelsWithStatesRunAgainWhatWasRightBeforeAWrongProposal() {
        device.states = true;
        device.checkpoints = 4;
        Reply right = reply(NGRAM, greedy(LONG, PROMPT));
        assertEquals(FakeBackend.expected(PROMPT, VOCAB, LONG), right.ids());
        assertTrue(right.usage().acceptedTokens() > 0, right.usage() + "");
        GenerationRequest request = ask(random(3).build(), 300, PROMPT).build();
        Reply wrong = reply(NGRAM, request);
        assertEquals(reply(Map.of(), request).ids(), wrong.ids());
        assertTrue(wrong.usage().draftedTokens() > wrong.usage().acceptedTokens(), wrong.usage() + "");
    }

    @Test
    void aDraftHasToBeNamedAndEndsWithItsModel() {
        TenonException e = assertThrows(TenonException.class, () -> model(1, Map.of("speculate", "draft")));
        assertEquals(ErrorCode.CONFIG, e.code());
        assertTrue(e.getMessage().contains("draft.model"), e.getMessage());
        assertThrows(TenonException.class, () -> model(1, Map.of("speculate", "draft", "draft.model", "none.gguf")));
        assertEquals(0, device.open.get());
        model(1, draft()).close();
        assertEquals(0, device.open.get());
        assertEquals(List.of(), engine.models());
    }

    /// What a bundle offers.
    private record Offered(String id, IntSupplier worth, BiFunction<TokenHistory, Integer, int[]> proposal)
            implements TokenProposerProvider {
        Offered(BiFunction<TokenHistory, Integer, int[]> proposal) {
            this("ours", () -> 8, proposal);
        }

        @Override
        public TokenProposer create(String argument, Tokenizer tokenizer) {
            if (argument.equals("?")) {
                throw new IllegalArgumentException("'?' says nothing");
            }
            return new TokenProposer() {
                @Override
                public int[] propose(TokenHistory tokens, int wanted) {
                    return proposal.apply(tokens, wanted);
                }

                @Override
                public int most() {
                    return worth.getAsInt();
                }
            };
        }
    }

    private Usage sameText(TokenProposerProvider provider) {
        registry.add(provider);
        Reply reply = reply(Map.of("speculate", "ours"), greedy(LONG, PROMPT));
        registry.remove(provider);
        assertEquals(FakeBackend.expected(PROMPT, VOCAB, LONG), reply.ids());
        return reply.usage();
    }

    @Test
    void aBundleMayProposeTokens() {
        List<Integer> text = FakeBackend.expected(PROMPT, VOCAB, LONG + 8);
        Usage usage = sameText(new Offered((tokens, most) -> text.stream()
                .skip(tokens.length() - PROMPT.length)
                .limit(most)
                .mapToInt(Integer::intValue)
                .toArray()));
        assertTrue(usage.acceptedTokens() > LONG / 2, usage.toString());
        assertEquals(usage.acceptedTokens(), usage.draftedTokens(), "all of them are right");
    }

    @Test
    void aProposerThatFailsIsAskedOnce() {
        List<BiFunction<TokenHistory, Integer, int[]>> wrong = List.of(
                (_, _) -> null,
                (_, most) -> new int[most + 1],
                (_, _) -> new int[] {VOCAB},
                (_, _) -> new int[] {-1},
                (tokens, _) -> new int[] {tokens.token(-1)},
                (_, _) -> {
                    throw new NoClassDefFoundError("gone");
                });
        for (BiFunction<TokenHistory, Integer, int[]> each : wrong) {
            AtomicInteger asked = new AtomicInteger();
            Usage usage = sameText(new Offered((tokens, most) -> {
                asked.incrementAndGet();
                return each.apply(tokens, most);
            }));
            assertEquals(1, asked.get());
            assertEquals(0, usage.acceptedTokens());
        }
        Usage usage = sameText(new Offered(
                "ours",
                () -> {
                    throw new IllegalStateException("no number");
                },
                (_, _) -> new int[0]));
        assertEquals(0, usage.draftedTokens());
    }

    @Test
    void aNameThatNothingOffersIsRefused() {
        Offered provider = new Offered((_, _) -> new int[0]);
        assertRefused("ours", "no bundle offers any");
        registry.add(provider);
        assertRefused("theirs", "there are ours");
        assertRefused("ours=?", "'?' says nothing");
        try (LoadedModel model = model(1, Map.of("speculate", "ours=1"));
                Session session = model.newSession()) {
            registry.remove(provider);
            assertEquals(
                    FakeBackend.expected(PROMPT, VOCAB, 20),
                    reply(session, greedy(20, PROMPT)).ids());
        }
    }

    private void assertRefused(String name, String reason) {
        TenonException e = assertThrows(TenonException.class, () -> model(1, Map.of("speculate", name)));
        assertEquals(ErrorCode.CONFIG, e.code());
        assertTrue(e.getMessage().contains(reason), e.getMessage());
        assertEquals(0, device.open.get());
    }

    @Test
    void aDraftThatFailsIsLeftOut() {
        try (LoadedModel model = model(1, draft());
                Session session = model.newSession()) {
            LoadedModel smaller = engine.models().stream()
                    .filter(other -> other != model)
                    .findFirst()
                    .orElseThrow();
            reply(session, greedy(10, PROMPT));
            smaller.close();
            List<Integer> expected = FakeBackend.expected(PROMPT, VOCAB, 60);
            assertEquals(expected.subList(10, 60), reply(session, greedy(50)).ids());
        }
    }

    /// The tokens of many short replies to one prompt are counted, with proposals and without, for seeds
    /// that differ. The prompt has each of the first tokens between two others, followed by one that is
    /// right now and then. Steps take about as long whatever they run, so that proposals pay.
    @Test
    void repliesAreDistributedAsWithoutProposals() {
        device.onStep = () -> {
            for (long end = System.nanoTime() + 50_000; System.nanoTime() < end; ) {
                Thread.onSpinWait();
            }
        };
        int[] prompt = new int[40];
        for (int i = 0; i < 9; i++) {
            System.arraycopy(new int[] {250, 251, i, i % 3}, 0, prompt, 4 * i, 4);
        }
        System.arraycopy(new int[] {0, 9, 250, 251}, 0, prompt, 36, 4);
        // The best first token is one of those that the prompt has there.
        prompt[37] = Math.floorMod(13 - FakeBackend.expected(prompt, VOCAB, 1).getFirst(), VOCAB);
        assertEquals(4, FakeBackend.expected(prompt, VOCAB, 1).getFirst());
        int runs = 5000;
        int drafted = 0;
        int accepted = 0;
        Map<List<Integer>, int[]> counts = new HashMap<>();
        for (int side = 0; side < 2; side++) {
            try (LoadedModel model = model(1, side == 0 ? Map.of() : NGRAM);
                    Session session = model.newSession()) {
                for (int run = 0; run < runs; run++) {
                    session.truncate(0);
                    long seed = side * 1_000_000L + run;
                    Reply reply =
                            reply(session, ask(random(seed).build(), 3, prompt).build());
                    drafted += reply.usage().draftedTokens();
                    accepted += reply.usage().acceptedTokens();
                    counts.computeIfAbsent(reply.ids(), tokens -> new int[2])[side]++;
                }
            }
        }
        assertTrue(accepted > runs / 20 && drafted - accepted > runs / 5, accepted + " of " + drafted);
        double squares = 0;
        for (int[] two : counts.values()) {
            double difference = two[0] - two[1];
            squares += difference * difference / (two[0] + two[1]);
        }
        int free = counts.size() - 1;
        // Five standard deviations of the chi-square distribution.
        double limit = free + 5 * Math.sqrt(2.0 * free);
        assertTrue(squares < limit, "chi-square " + squares + " of " + free + " degrees, limit " + limit);
    }
}
