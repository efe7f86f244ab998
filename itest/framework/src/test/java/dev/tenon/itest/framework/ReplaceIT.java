package dev.tenon.itest.framework;

import static dev.tenon.itest.framework.Manager.BACKEND;
import static dev.tenon.itest.framework.Manager.FORMATS;
import static dev.tenon.itest.framework.Manager.KERNELS;
import static dev.tenon.itest.framework.Manager.MODELS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.framework.Osgi.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;

/// Bundles that are replaced, refused and taken away while models generate, in real frameworks.
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class ReplaceIT {
    private static final int TOKENS = 160;

    @TempDir
    Path folder;

    private Osgi osgi;
    private Manager manager;

    private Engine start(Kind kind) throws Exception {
        osgi = new Osgi(kind, folder.resolve("cache"), true);
        osgi.startEverything();
        manager = new Manager(osgi);
        return osgi.service(Engine.class);
    }

    @AfterEach
    void stop() {
        if (osgi != null) {
            osgi.close();
        }
    }

    private Path version(String bundle, String version) throws IOException {
        return Manager.version(bundle, version, folder);
    }

    private static LoadRequest request(int sequences) {
        return LoadRequest.builder(Jars.model())
                .contextLength(256)
                .maxSequences(sequences)
                .settings(Map.of("warmup", "off"))
                .threads(2)
                .build();
    }

    private static final List<String> PROMPTS =
            List.of("Once upon a time", "The old house", "Tom and his dog", "In the garden there was");

    /// What a generation gave.
    private record Text(List<Integer> tokens, List<String> moves) {}

    private static Text generate(Session session, LoadedModel model, String prompt, Runnable onToken) {
        Text text = new Text(new ArrayList<>(), new ArrayList<>());
        int[] tokens = model.tokenizer().encode(prompt, true, false);
        session.generate(
                GenerationRequest.builder()
                        .prompt(tokens)
                        .sampling(SamplingParams.greedy())
                        .maxNewTokens(TOKENS)
                        .ignoreEndOfGeneration(true)
                        .build(),
                new GenerationListener() {
                    @Override
                    public void onText(String text) {}

                    @Override
                    public void onToken(GeneratedToken token) {
                        text.tokens().add(token.id());
                        onToken.run();
                    }

                    @Override
                    public void onMoved(String reason) {
                        text.moves().add(reason);
                    }
                });
        return text;
    }

    private static List<Text> undisturbed(LoadedModel model) {
        List<Text> texts = new ArrayList<>();
        for (String prompt : PROMPTS) {
            try (Session session = model.newSession()) {
                texts.add(generate(session, model, prompt, () -> {}));
            }
        }
        return texts;
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void sessionsGoOnOnTheNewVersionOfEachKindOfBundle(Kind kind) throws Exception {
        Engine engine = start(kind);
        try (LoadedModel model = engine.load(request(PROMPTS.size()));
                ExecutorService threads = Executors.newFixedThreadPool(PROMPTS.size())) {
            List<Text> expected = undisturbed(model);
            long before = model.report().memory().allocatedBytes();
            for (String piece : List.of(FORMATS, MODELS, BACKEND, KERNELS)) {
                CountDownLatch running = new CountDownLatch(PROMPTS.size());
                CountDownLatch replaced = new CountDownLatch(1);
                List<Future<Text>> texts = new ArrayList<>();
                for (String prompt : PROMPTS) {
                    texts.add(threads.submit(() -> {
                        int[] seen = new int[1];
                        try (Session session = model.newSession()) {
                            return generate(session, model, prompt, () -> {
                                if (++seen[0] == 20) {
                                    running.countDown();
                                }
                                if (seen[0] == TOKENS / 2) {
                                    await(replaced); // or else a fast machine is through before the bundle is replaced
                                }
                            });
                        }
                    }));
                }
                String done;
                try {
                    while (!running.await(50, TimeUnit.MILLISECONDS)) {
                        for (Future<Text> text : texts) {
                            if (text.isDone()) {
                                text.get(); // ended too early: throws why
                            }
                        }
                    }
                    done = manager.apply(version(piece, "0.9.1"));
                } finally {
                    replaced.countDown();
                }
                assertEquals(piece + " 0.1.0 was replaced by " + piece + " 0.9.1", done);
                for (int i = 0; i < texts.size(); i++) {
                    Text text = texts.get(i).get();
                    assertEquals(expected.get(i).tokens(), text.tokens(), piece + ": " + PROMPTS.get(i));
                    assertEquals(List.of(done + " (cpu-vector)"), text.moves(), piece);
                }
                assertEquals(
                        1,
                        manager.bundles(piece).size(),
                        () -> manager.bundles(piece).toString());
                assertEquals(
                        "0.9.1", manager.bundles(piece).getFirst().getVersion().toString());
            }
            assertEquals(before, model.report().memory().allocatedBytes(), "memory of the plan");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aBrokenVersionIsRefusedWithItsReasonAndTheOldOneServesOn(Kind kind) throws Exception {
        Engine engine = start(kind);
        try (LoadedModel model = engine.load(request(1))) {
            List<Integer> expected;
            try (Session session = model.newSession()) {
                expected =
                        generate(session, model, PROMPTS.getFirst(), () -> {}).tokens();
            }
            Path formats = Jars.ours("quant-formats");
            Path backend = Jars.ours("backend-cpu-vector");
            List<Map.Entry<Path, String>> broken = List.of(
                    Map.entry(
                            Jars.patched(
                                    formats,
                                    folder.resolve("unresolved.jar"),
                                    Map.of("Bundle-Version", "0.2.0", "Import-Package", "no.such.thing")),
                            "dev.tenon.quant.formats 0.2.0 did not start: .*no\\.such\\.thing.*"),
                    Map.entry(
                            Jars.patched(
                                    formats,
                                    folder.resolve("activator.jar"),
                                    Map.of("Bundle-Version", "0.2.1", "Bundle-Activator", "no.Such")),
                            "dev.tenon.quant.formats 0.2.1 did not start: .*no\\.Such.*"),
                    Map.entry(
                            Jars.broken(
                                    formats,
                                    folder.resolve("wrong.jar"),
                                    "0.2.2",
                                    "dev.tenon.quant.formats.LayoutFormat",
                                    "dequantize"),
                            "dev.tenon.quant.formats 0.2.2 failed its self-check: .*format \\w+ decodes .*"),
                    Map.entry(
                            Jars.broken(
                                    backend,
                                    folder.resolve("wrong-backend.jar"),
                                    "0.2.3",
                                    "dev.tenon.backend.cpu.vector.math.RmsNormMath",
                                    "groups"),
                            "dev.tenon.backend.cpu.vector 0.2.3 failed its self-check: .*logits of a tiny model.*"),
                    Map.entry(
                            Jars.patched(
                                    backend,
                                    folder.resolve("silent.jar"),
                                    Map.of("Bundle-Version", "0.2.4", "Service-Component", "")),
                            "dev.tenon.backend.cpu.vector 0.2.4 did not start: it offers none of the services.*"));
            int[] position = new int[1];
            try (Session session = model.newSession()) {
                Text text = generate(session, model, PROMPTS.getFirst(), () -> {
                    int n = position[0]++;
                    if (n % 20 == 10 && n / 20 < broken.size()) {
                        var each = broken.get(n / 20);
                        TenonException e = assertThrows(TenonException.class, () -> manager.apply(each.getKey()));
                        assertEquals(ErrorCode.BUNDLE_REJECTED, e.code(), e.getMessage());
                        assertTrue(e.getMessage().matches("(?s)" + each.getValue()), e.getMessage());
                        assertTrue(e.getMessage().contains(" 0.1.0 stays in use"), e.getMessage());
                    }
                });
                assertEquals(expected, text.tokens());
                assertEquals(List.of(), text.moves());
            }
            for (String piece : List.of(FORMATS, BACKEND)) {
                assertEquals(
                        1,
                        manager.bundles(piece).size(),
                        () -> manager.bundles(piece).toString());
                assertEquals(
                        "0.1.0", manager.bundles(piece).getFirst().getVersion().toString());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aBundleWhoseIdsAreTakenIsRefusedAndTheOriginalIsStillUpdated(Kind kind) throws Exception {
        Engine engine = start(kind);
        try (LoadedModel model = engine.load(request(1))) {
            Map<String, String> taken = Map.of(
                    "quant-formats", "format F32",
                    "models-qwen3", "(architecture|encoder) [\\w.]+",
                    "backend-cpu-vector", "backend cpu-vector",
                    "platform-bench", "command (bench|tune)");
            for (Map.Entry<String, String> each : taken.entrySet()) {
                Path jar = Jars.ours(each.getKey());
                String name = Jars.attributes(jar).getValue("Bundle-SymbolicName");
                Path copy = Jars.patched(
                        jar, folder.resolve(each.getKey() + ".jar"), Map.of("Bundle-SymbolicName", "org.example.copy"));
                TenonException e = assertThrows(TenonException.class, () -> manager.apply(copy));
                assertEquals(ErrorCode.DUPLICATE_ID, e.code(), e.getMessage());
                assertTrue(
                        e.getMessage()
                                .matches("org\\.example\\.copy 0\\.1\\.0 was refused: " + each.getValue()
                                        + " is offered by " + name + " 0\\.1\\.0 already.*"),
                        e.getMessage());
                assertTrue(e.getMessage().length() < 260, e.getMessage());
                assertEquals(List.of(), manager.bundles("org.example.copy"));
            }
            for (String piece : List.of(FORMATS, MODELS, BACKEND)) {
                manager.apply(version(piece, "0.9.3"));
                try (Session session = model.newSession()) {
                    assertFalse(
                            generate(session, model, " and", () -> {}).tokens().isEmpty(), piece);
                }
            }
        }
    }

    @Test
    void aVersionThatCannotRunALoadedModelIsPutBack() throws Exception {
        Engine engine = start(Kind.FELIX);
        try (LoadedModel model = engine.load(request(1));
                Session session = model.newSession()) {
            // It offers another architecture than the model's, which nothing else offers.
            osgi.bundle("dev.tenon.models.llama").uninstall();
            Path other = Jars.patched(
                    Jars.ours("models-llama"),
                    folder.resolve("other.jar"),
                    Map.of("Bundle-Version", "0.3.0", "Bundle-SymbolicName", MODELS));
            TenonException e = assertThrows(TenonException.class, () -> manager.apply(other));
            assertEquals(ErrorCode.BUNDLE_REJECTED, e.code());
            assertTrue(e.getMessage().contains("cannot run a loaded model"), e.getMessage());
            assertTrue(e.getMessage().contains("has architecture 'qwen3'"), e.getMessage());
            Text text = generate(session, model, PROMPTS.getFirst(), () -> {});
            assertEquals(TOKENS, text.tokens().stream().filter(t -> t >= 0).count());
            assertEquals(
                    "0.1.0", manager.bundles(MODELS).getFirst().getVersion().toString());
        }
    }

    /// It reads the same tensors and rotates other pairs.
    @Test
    void aVersionThatComputesOtherLogitsIsRefusedWhileAModelGenerates() throws Exception {
        Engine engine = start(Kind.FELIX);
        Path other = Jars.rotatingNeighbours(folder.resolve("other.jar"), "0.4.0");
        try (LoadedModel model = engine.load(request(1));
                Session session = model.newSession()) {
            Text undisturbed = generate(session, model, PROMPTS.getFirst(), () -> {});
            session.truncate(0);
            int[] seen = new int[1];
            Text text = generate(session, model, PROMPTS.getFirst(), () -> {
                if (++seen[0] == 10) {
                    TenonException e = assertThrows(TenonException.class, () -> manager.apply(other));
                    assertEquals(ErrorCode.BUNDLE_RESULTS, e.code(), e.getMessage());
                    assertTrue(
                            e.getMessage()
                                    .matches(MODELS + " 0.4.0 computes something else: the logits of a short text on"
                                            + " story-qwen3-q4_k_m.gguf differ: NMSE .* at most; the most probable token"
                                            + " number .* was .* and becomes .*\\. " + MODELS
                                            + " 0.1.0 stays in use\\. .*--accept-changed-results.*"),
                            e.getMessage());
                }
                if (seen[0] == 20) {
                    run(() -> manager.apply(version(MODELS, "0.4.1")));
                }
            });
            assertEquals(undisturbed.tokens(), text.tokens());
            // Placed on the old version again by the next step, by the replacement that failed, or by both; a step
            // tells the last of the moves before it, and this thread may read tokens after the steps have ended.
            int moves = text.moves().size();
            assertTrue(moves >= 1 && moves <= 3, text.moves().toString());
            assertEquals(
                    MODELS + " 0.1.0 was replaced by " + MODELS + " 0.4.1 (cpu-vector)",
                    text.moves().getLast());
            assertEquals(1, manager.bundles(MODELS).size());
        }
    }

    /// {@return what a generation ends with when a bundle is stopped in the middle of it}
    private static BackendException endedByStopping(Bundle bundle, LoadedModel model, Session session) {
        int[] seen = new int[1];
        BackendException e = assertThrows(
                BackendException.class,
                () -> generate(session, model, PROMPTS.getFirst(), () -> {
                    if (++seen[0] == 5) {
                        run(() -> {
                            bundle.stop();
                            return null;
                        });
                    }
                }));
        assertEquals(ErrorCode.BACKEND_WITHDRAWN, e.code());
        return e;
    }

    @Test
    void withoutAReplacementTheSessionEndsWithTheReasonAndGoesOnWhenTheBundleIsBack() throws Exception {
        Engine engine = start(Kind.FELIX);
        try (LoadedModel model = engine.load(request(1));
                Session session = model.newSession()) {
            Bundle backend = osgi.bundle(BACKEND);
            BackendException e = endedByStopping(backend, model, session);
            assertTrue(e.getMessage().contains("No backend can run"), e.getMessage());
            backend.start();
            Text rest = generate(session, model, " and", () -> {});
            assertFalse(rest.tokens().isEmpty());
            assertEquals(1, rest.moves().size(), rest.moves().toString());
        }
    }

    @Test
    void aWithdrawnFormatIsOneProblemHoweverManyTensorsHaveIt() throws Exception {
        Engine engine = start(Kind.FELIX);
        try (LoadedModel model = engine.load(request(1));
                Session session = model.newSession()) {
            BackendException e = endedByStopping(osgi.bundle(FORMATS), model, session);
            List<String> types = Pattern.compile(
                            "no installed format decodes tensor type (\\d+ \\(\\w+\\)) of \\d+ tensors")
                    .matcher(e.getMessage())
                    .results()
                    .map(found -> found.group(1))
                    .toList();
            // The model may be placed again before all formats are gone, so not each has to be named.
            assertFalse(types.isEmpty(), e.getMessage());
            assertEquals(Set.copyOf(types).size(), types.size(), e.getMessage());
            assertTrue(e.getMessage().length() < 700, e.getMessage());
        }
    }

    private static void run(Callable<?> action) {
        try {
            action.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aReplacedBundleOfTheDistributionComesBackWhenItsReplacementIsRemoved() throws Exception {
        Engine engine = start(Kind.FELIX);
        try (LoadedModel model = engine.load(request(1));
                Session session = model.newSession()) {
            TenonException own = assertThrows(TenonException.class, () -> manager.remove(FORMATS));
            assertEquals(ErrorCode.BUNDLE_FIXED, own.code());
            TenonException used = assertThrows(
                    TenonException.class,
                    () -> manager.apply(Jars.patched(
                            Jars.ours("platform-core"),
                            folder.resolve("core.jar"),
                            Map.of("Bundle-Version", "0.2.0"))));
            assertEquals(ErrorCode.BUNDLE_FIXED, used.code());
            assertTrue(used.getMessage().contains("dev.tenon.platform.cli"), used.getMessage());

            manager.apply(version(MODELS, "0.2.0"));
            manager.apply(version(MODELS, "0.1.5")); // a downgrade that was asked for
            assertEquals(
                    "0.1.5", manager.bundles(MODELS).getFirst().getVersion().toString());
            assertEquals(
                    MODELS + " 0.1.5 was replaced by " + MODELS + " 0.1.0, an older version", manager.remove(MODELS));
            TenonException again = assertThrows(TenonException.class, () -> manager.remove(MODELS));
            assertEquals(ErrorCode.BUNDLE_FIXED, again.code());
            assertEquals(1, manager.bundles(MODELS).size());
            Text text = generate(session, model, PROMPTS.getFirst(), () -> {});
            assertFalse(text.tokens().isEmpty());
        }
    }
}
