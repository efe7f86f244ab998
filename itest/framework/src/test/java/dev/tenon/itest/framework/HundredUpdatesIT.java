package dev.tenon.itest.framework;

import static dev.tenon.itest.framework.Manager.BACKEND;
import static dev.tenon.itest.framework.Manager.FORMATS;
import static dev.tenon.itest.framework.Manager.KERNELS;
import static dev.tenon.itest.framework.Manager.MODELS;
import static dev.tenon.itest.framework.Manager.PIECES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.framework.Osgi.Kind;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.Bundle;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.BundleWiring;

/// A hundred updates of a bundle of each kind leave neither classes nor memory behind.
///
/// Long: after each one the model is placed again and generates.
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class HundredUpdatesIT {
    private static final String PROMPT = "Once upon a time";

    @TempDir
    Path folder;

    private Osgi osgi;

    @AfterEach
    void stop() {
        if (osgi != null) {
            osgi.close();
        }
    }

    @Test
    void theyLeaveNeitherClassesNorMemoryBehind() throws Exception {
        osgi = new Osgi(Kind.FELIX, folder.resolve("cache"), true);
        osgi.startEverything();
        Manager manager = new Manager(osgi);
        LoadRequest request = LoadRequest.builder(Jars.model())
                .contextLength(256)
                .settings(Map.of("warmup", "off"))
                .threads(2)
                .build();
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        long mappedBefore = Footprint.mapped();
        try (LoadedModel model = osgi.service(Engine.class).load(request)) {
            List<Integer> expected = null;
            long allocated = 0;
            long bound = 0;
            List<String> pieces = List.of(FORMATS, MODELS, BACKEND, KERNELS);
            for (int round = 0; round <= 100; round++) {
                if (round > 0) {
                    String piece = pieces.get(round % pieces.size());
                    manager.apply(Manager.version(piece, "1.0." + round, folder));
                }
                remember(loaders);
                try (Session session = model.newSession()) {
                    List<Integer> tokens = few(session, model);
                    expected = expected == null ? tokens : expected;
                    assertEquals(expected, tokens, "round " + round);
                }
                if (round == 1) {
                    allocated = model.report().memory().allocatedBytes();
                    bound = model.report().memory().boundBytes();
                    assertTrue(bound > 0, "the weights are mapped");
                }
            }
            assertEquals(allocated, model.report().memory().allocatedBytes(), "allocated by the plan");
            assertEquals(bound, model.report().memory().boundBytes(), "mapped weights in use");
            assertTrue(
                    Footprint.mapped() <= mappedBefore + 1,
                    "the model's file is mapped " + Footprint.mapped() + " times");
        }
        assertEquals(mappedBefore, Footprint.mapped(), "mappings of the model's file after it was closed");
        assertTrue(loaders.size() > 100, "class loaders seen: " + loaders.size());
        Osgi.await("the class loaders of replaced bundles are collected", () -> {
            System.gc();
            return alive(loaders) <= PIECES.size();
        });
    }

    private static List<Integer> few(Session session, LoadedModel model) {
        List<Integer> tokens = new ArrayList<>();
        session.generate(
                GenerationRequest.builder()
                        .prompt(model.tokenizer().encode(PROMPT, true, false))
                        .sampling(SamplingParams.greedy())
                        .maxNewTokens(8)
                        .ignoreEndOfGeneration(true)
                        .build(),
                GenerationListener.ofTokens(token -> tokens.add(token.id())));
        return tokens;
    }

    private static long alive(List<WeakReference<ClassLoader>> loaders) {
        return loaders.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .distinct()
                .count();
    }

    /// Notes the class loaders of the services that bundles of the four pieces offer now.
    private void remember(List<WeakReference<ClassLoader>> loaders) {
        for (String type : List.of(
                "dev.tenon.api.quant.QuantFormat",
                "dev.tenon.api.model.ModelArchitecture",
                "dev.tenon.api.device.Backend",
                "dev.tenon.api.kernel.KernelProvider")) {
            for (ServiceReference<?> reference : osgi.references(type, null)) {
                Bundle bundle = reference.getBundle();
                if (PIECES.containsKey(bundle.getSymbolicName())) {
                    ClassLoader loader = bundle.adapt(BundleWiring.class).getClassLoader();
                    if (loaders.stream().noneMatch(w -> w.get() == loader)) {
                        loaders.add(new WeakReference<>(loader));
                    }
                }
            }
        }
    }
}
