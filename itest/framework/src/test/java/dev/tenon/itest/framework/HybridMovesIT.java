package dev.tenon.itest.framework;

import static dev.tenon.itest.framework.Manager.BACKEND;
import static dev.tenon.itest.framework.Manager.FORMATS;
import static dev.tenon.itest.framework.Manager.LFM2;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.framework.Osgi.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A model whose sequences have states is moved to other versions of its bundles while sessions generate. What a
/// session evaluates after a move, in pieces and beside the others, has the bits that it has undisturbed.
///
/// Long: updates wait until all sessions were seen at work, in both frameworks.
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class HybridMovesIT {
    private static final List<String> PIECES = List.of(FORMATS, LFM2, BACKEND);
    private static final int NEIGHBOURS = 3;
    private static final int GENERATED = 60;
    private static final int BEFORE = 45;
    private static final int[] TOKENS =
            new Random(5).ints(90, 3, TinyModels.VOCAB).toArray();

    @TempDir
    Path folder;

    private volatile boolean over;
    private final AtomicInteger moves = new AtomicInteger();
    /// A permit for each token of a neighbour, by neighbour.
    private final List<Semaphore> heard = List.of(new Semaphore(0), new Semaphore(0), new Semaphore(0));

    @ParameterizedTest
    @EnumSource(Kind.class)
    void logitsAndTextsAreThoseOfAnUndisturbedModel(Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), true)) {
            osgi.startEverything();
            Manager manager = new Manager(osgi);
            LoadRequest request = LoadRequest.builder(
                            TinyModels.write(TinyModels.HYBRID, folder.resolve("hybrid.gguf")))
                    .contextLength(TinyModels.CONTEXT)
                    .maxSequences(NEIGHBOURS + 4)
                    .maxBatchTokens(32)
                    .build();
            try (LoadedModel model = osgi.service(Engine.class).load(request);
                    ExecutorService threads = Executors.newFixedThreadPool(NEIGHBOURS)) {
                float[][] expected = rows(model);
                List<List<Integer>> texts = new ArrayList<>();
                for (int i = 0; i < NEIGHBOURS; i++) {
                    texts.add(generate(model, i, null));
                }
                List<Future<Integer>> neighbours = new ArrayList<>();
                for (int i = 0; i < NEIGHBOURS; i++) {
                    int neighbour = i;
                    neighbours.add(threads.submit(() -> generateAgainAndAgain(model, neighbour, texts.get(neighbour))));
                }
                try {
                    for (int round = 1; round <= 2; round++) {
                        for (String piece : PIECES) {
                            move(model, manager, piece, "1.0." + round, expected, neighbours);
                        }
                    }
                } finally {
                    over = true;
                }
                for (Future<Integer> neighbour : neighbours) {
                    assertTrue(neighbour.get() > 0);
                }
                assertTrue(moves.get() >= 2 * PIECES.size(), "moves: " + moves);
                assertArrayEquals(expected, rows(model));
            }
        }
    }

    /// Updates a bundle while there are a session with tokens, one that was shortened and an empty one, and compares
    /// what they give then.
    private void move(
            LoadedModel model,
            Manager manager,
            String piece,
            String version,
            float[][] expected,
            List<Future<Integer>> neighbours)
            throws Exception {
        try (Session grown = model.newSession();
                Session shortened = model.newSession();
                Session fresh = model.newSession()) {
            evaluate(grown, 0, BEFORE, expected, BEFORE);
            evaluate(shortened, 0, BEFORE + 20, expected, 13);
            shortened.truncate(BEFORE);
            awaitTokens(neighbours);
            String done = manager.apply(Manager.version(piece, version, folder));
            assertTrue(done.endsWith(" was replaced by " + piece + " " + version), done);
            awaitTokens(neighbours);
            evaluate(grown, BEFORE, TOKENS.length, expected, 7);
            evaluate(shortened, BEFORE, TOKENS.length, expected, 1);
            evaluate(fresh, 0, TOKENS.length, expected, 11);
            fresh.truncate(BEFORE);
            evaluate(fresh, BEFORE, TOKENS.length, expected, TOKENS.length);
        }
    }

    /// Evaluates tokens in pieces and compares the logits.
    private static void evaluate(Session session, int from, int to, float[][] expected, int piece) {
        for (int at = from; at < to; at += piece) {
            int first = at;
            session.evaluate(
                    Arrays.copyOfRange(TOKENS, at, Math.min(to, at + piece)),
                    Rows.ALL,
                    (index, logits) ->
                            assertArrayEquals(expected[first + index], logits, "after token " + (first + index)));
        }
    }

    private static float[][] rows(LoadedModel model) {
        float[][] rows = new float[TOKENS.length][];
        try (Session session = model.newSession()) {
            session.evaluate(TOKENS, Rows.ALL, (index, logits) -> rows[index] = logits.clone());
        }
        return rows;
    }

    private int generateAgainAndAgain(LoadedModel model, int neighbour, List<Integer> expected) {
        int texts = 0;
        for (; !over; texts++) {
            assertEquals(expected, generate(model, neighbour, heard.get(neighbour)));
        }
        return texts;
    }

    private List<Integer> generate(LoadedModel model, int neighbour, Semaphore each) {
        List<Integer> tokens = new ArrayList<>();
        try (Session session = model.newSession()) {
            session.generate(
                    GenerationRequest.builder()
                            .prompt(Arrays.copyOfRange(TOKENS, 5 * neighbour, 5 * neighbour + 20))
                            .sampling(SamplingParams.greedy())
                            .maxNewTokens(GENERATED)
                            .ignoreEndOfGeneration(true)
                            .build(),
                    new GenerationListener() {
                        @Override
                        public void onText(String text) {}

                        @Override
                        public void onToken(GeneratedToken token) {
                            tokens.add(token.id());
                            if (each != null) {
                                each.release();
                            }
                        }

                        @Override
                        public void onMoved(String reason) {
                            moves.incrementAndGet();
                        }
                    });
        }
        return tokens;
    }

    /// Waits until each neighbour has got another token.
    private void awaitTokens(List<Future<Integer>> neighbours) throws Exception {
        for (int i = 0; i < NEIGHBOURS; i++) {
            heard.get(i).drainPermits();
            while (!heard.get(i).tryAcquire(1, TimeUnit.SECONDS)) {
                if (neighbours.get(i).isDone()) {
                    neighbours.get(i).get(); // throws why
                    throw new AssertionError("a neighbour ended early");
                }
            }
        }
    }
}
