package dev.tenon.itest.framework;

import static dev.tenon.itest.framework.Manager.BACKEND;
import static dev.tenon.itest.framework.Manager.FORMATS;
import static dev.tenon.itest.framework.Manager.MODELS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.framework.Osgi.Kind;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;
import org.osgi.framework.wiring.BundleWiring;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Eight sessions generate all the while that formats, architecture and backend are updated again and
/// again, and once each by a broken version. `-Dtenon.itest.updates=50` sets how often.
///
/// Long: each update waits until all sessions were seen at work, and so do the checks that nothing stays behind.
@Tag("long")
@Timeout(value = 60, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class UpdatesUnderLoadIT {
    private static final Logger LOG = LoggerFactory.getLogger(UpdatesUnderLoadIT.class);
    private static final int UPDATES = Integer.getInteger("tenon.itest.updates", 2);
    private static final int TOKENS = 48;
    private static final List<String> PIECES = List.of(FORMATS, MODELS, BACKEND);
    private static final List<String> PROMPTS = List.of(
            "Once upon a time",
            "The old house",
            "Tom and his dog",
            "In the garden there was",
            "One day",
            "Lily wanted",
            "The sun",
            "A big red ball");

    @TempDir
    Path folder;

    private Manager manager;

    /// The load: a thread for each prompt, which generates it in one session after the other.
    private final class Load {
        private final LoadedModel model;
        private final List<List<Integer>> expected;
        private final List<Future<Integer>> threads = new ArrayList<>();
        /// Tokens of each thread.
        private final AtomicIntegerArray tokens = new AtomicIntegerArray(PROMPTS.size());
        private final AtomicInteger moves = new AtomicInteger();
        private volatile boolean over;

        Load(LoadedModel model, List<List<Integer>> expected, ExecutorService executor) {
            this.model = model;
            this.expected = expected;
            for (int i = 0; i < PROMPTS.size(); i++) {
                int thread = i;
                threads.add(executor.submit(() -> generateAgainAndAgain(thread)));
            }
        }

        private int generateAgainAndAgain(int thread) {
            int texts = 0;
            for (; !over; texts++) {
                try (Session session = model.newSession()) {
                    List<Integer> found = new ArrayList<>();
                    session.generate(request(model, PROMPTS.get(thread)), new GenerationListener() {
                        @Override
                        public void onText(String text) {}

                        @Override
                        public void onToken(GeneratedToken token) {
                            found.add(token.id());
                            tokens.incrementAndGet(thread);
                        }

                        @Override
                        public void onMoved(String reason) {
                            moves.incrementAndGet();
                        }
                    });
                    assertEquals(expected.get(thread), found, PROMPTS.get(thread) + ", text " + texts);
                }
            }
            return texts;
        }

        /// Waits until each thread has got another token, so that the next update finds all of them at work.
        void awaitTokens() throws Exception {
            int[] before = new int[PROMPTS.size()];
            Arrays.setAll(before, tokens::get);
            for (int i = 0; i < before.length; i++) {
                while (tokens.get(i) == before[i]) {
                    if (threads.get(i).isDone()) {
                        threads.get(i).get(); // throws why
                        throw new AssertionError("a thread of the load ended early");
                    }
                    Thread.sleep(1);
                }
            }
        }

        /// {@return how many texts were generated to their end}
        int end() throws Exception {
            int texts = 0;
            for (Future<Integer> thread : threads) {
                texts += thread.get();
            }
            return texts;
        }
    }

    private static GenerationRequest request(LoadedModel model, String prompt) {
        int[] tokens = model.tokenizer().encode(prompt, true, false);
        return GenerationRequest.builder()
                .prompt(tokens)
                .sampling(SamplingParams.greedy())
                .maxNewTokens(TOKENS)
                .ignoreEndOfGeneration(true)
                .build();
    }

    /// All prompts at once, undisturbed; no session is closed before all are through, so that the same
    /// pages are in use each time.
    private static List<List<Integer>> undisturbed(LoadedModel model) throws Exception {
        List<Session> sessions = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(PROMPTS.size())) {
            List<Future<List<Integer>>> texts = new ArrayList<>();
            for (String prompt : PROMPTS) {
                Session session = model.newSession();
                sessions.add(session);
                texts.add(executor.submit(() -> {
                    List<Integer> tokens = new ArrayList<>();
                    session.generate(
                            request(model, prompt), GenerationListener.ofTokens(token -> tokens.add(token.id())));
                    return tokens;
                }));
            }
            List<List<Integer>> all = new ArrayList<>();
            for (Future<List<Integer>> text : texts) {
                all.add(text.get());
            }
            return all;
        } finally {
            sessions.forEach(Session::close);
        }
    }

    /// Has each width of a step be computed once that sessions may or may not have met together or when they
    /// moved: kernels make machine code for a width when they first meet it, and keep it.
    private static void everyWidth(LoadedModel model) throws Exception {
        String text = "Once upon a time there was a little girl called Lily. ".repeat(8);
        int[] tokens = model.tokenizer().encode(text, true, false);
        for (int width = 1; width <= 96; width++) {
            try (Session session = model.newSession()) {
                session.generate(
                        GenerationRequest.builder()
                                .prompt(Arrays.copyOf(tokens, width))
                                .sampling(SamplingParams.greedy())
                                .maxNewTokens(1)
                                .ignoreEndOfGeneration(true)
                                .build(),
                        piece -> {});
            }
        }
    }

    /// A version of each kind that must not take over.
    private Path broken(String piece) throws Exception {
        return switch (piece) {
            case FORMATS ->
                Jars.broken(
                        Jars.ours("quant-formats"),
                        folder.resolve("broken-formats.jar"),
                        "2.0.0",
                        "dev.tenon.quant.formats.LayoutFormat",
                        "dequantize");
            case BACKEND ->
                Jars.broken(
                        Jars.ours("backend-cpu-vector"),
                        folder.resolve("broken-backend.jar"),
                        "2.0.0",
                        "dev.tenon.backend.cpu.vector.math.RmsNormMath",
                        "groups");
            // It passes its self-check and starts, but computes something else for the loaded model.
            case MODELS -> Jars.rotatingNeighbours(folder.resolve("broken-models.jar"), "2.0.0");
            default -> throw new AssertionError(piece);
        };
    }

    private void update(int round) throws Exception {
        for (String piece : PIECES) {
            update(piece, "1.0." + round);
        }
    }

    private void update(String piece, String version) throws Exception {
        String done = manager.apply(Manager.version(piece, version, folder));
        assertTrue(done.endsWith(" was replaced by " + piece + " " + version), done);
        assertEquals(1, manager.bundles(piece).size(), piece);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void noSessionFailsNoTextChangesAndNothingStaysBehind(Kind kind) throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        long mappingsBefore = Footprint.mapped();
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), true)) {
            osgi.startEverything();
            manager = new Manager(osgi);
            osgi.onResolved(bundle -> remember(bundle, loaders));
            LoadRequest request = LoadRequest.builder(Jars.model())
                    .contextLength(128)
                    .maxSequences(PROMPTS.size())
                    .threads(2)
                    .build();
            try (LoadedModel model = osgi.service(Engine.class).load(request)) {
                update(0);
                Footprint.awaitWarmUp(); // before the first step: with one, it leaves out code that is made later then
                List<List<Integer>> expected = undisturbed(model);
                everyWidth(model);
                Footprint before = Footprint.settled(model);

                String load = underLoad(model, expected);

                update(UPDATES + 1); // places the model anew, as before the first footprint
                assertEquals(expected, undisturbed(model));
                everyWidth(model);
                assertEquals(before, Footprint.await(before, model));
                awaitCollection(loaders);
                LOG.info("{}: {}, {} class loaders, {}", kind, load, loaders.size(), before);
            }
            assertEquals(mappingsBefore, Footprint.mapped(), "mappings of the model's file after it was closed");
        }
    }

    /// Updates and breaks the bundles while the load runs.
    ///
    /// @return what was done, for the log
    private String underLoad(LoadedModel model, List<List<Integer>> expected) throws Exception {
        long start = System.nanoTime();
        // Its threads end with it, and what the JVM keeps off the heap for each of them.
        try (ExecutorService executor = Executors.newFixedThreadPool(PROMPTS.size())) {
            Load load = new Load(model, expected, executor);
            try {
                for (int round = 1; round <= UPDATES; round++) {
                    for (String piece : PIECES) {
                        load.awaitTokens();
                        update(piece, "1.0." + round);
                        if (round == (UPDATES + 1) / 2) {
                            load.awaitTokens();
                            refuse(piece);
                        }
                    }
                }
                load.awaitTokens();
            } finally {
                load.over = true;
            }
            int texts = load.end();
            assertTrue(load.moves.get() >= UPDATES * PIECES.size(), "moves: " + load.moves);
            return String.format(
                    Locale.ROOT,
                    "%d updates and %d refusals in %.1f s, %d texts, %d moves",
                    UPDATES * PIECES.size(),
                    PIECES.size(),
                    (System.nanoTime() - start) / 1e9,
                    texts,
                    load.moves.get());
        }
    }

    private void refuse(String piece) throws Exception {
        Path broken = broken(piece);
        String version = manager.bundles(piece).getFirst().getVersion().toString();
        TenonException e = assertThrows(TenonException.class, () -> manager.apply(broken));
        String expected = piece.equals(MODELS) ? ErrorCode.BUNDLE_RESULTS : ErrorCode.BUNDLE_REJECTED;
        assertEquals(expected, e.code(), e.getMessage());
        assertTrue(e.getMessage().contains(version + " stays in use"), e.getMessage());
        assertEquals(1, manager.bundles(piece).size(), piece);
    }

    private static void remember(Bundle bundle, List<WeakReference<ClassLoader>> loaders) {
        if (PIECES.contains(bundle.getSymbolicName())) {
            BundleWiring wiring = bundle.adapt(BundleWiring.class);
            if (wiring != null) {
                loaders.add(new WeakReference<>(wiring.getClassLoader()));
            }
        }
    }

    private static void awaitCollection(List<WeakReference<ClassLoader>> loaders) throws Exception {
        // Each update, the first and the last round included, and each broken version.
        assertTrue(loaders.size() >= PIECES.size() * (UPDATES + 3), "class loaders seen: " + loaders.size());
        for (int i = 0; i < 1500 && alive(loaders) > PIECES.size(); i++) {
            System.gc();
            Thread.sleep(20);
        }
        assertEquals(PIECES.size(), alive(loaders), "class loaders of " + PIECES + " that are not collected");
    }

    private static long alive(List<WeakReference<ClassLoader>> loaders) {
        return loaders.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .distinct()
                .count();
    }
}
