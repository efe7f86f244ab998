package dev.tenon.itest.framework;

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
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;
import org.osgi.framework.wiring.BundleWire;
import org.osgi.framework.wiring.BundleWiring;

/// Bundles whose classes others use are replaced together with them.
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class SharedClassesIT {
    private static final String KERNELS = "dev.tenon.kernels.nvidia";
    private static final String CUDA = "dev.tenon.backend.cuda";
    private static final String PACKAGE = "dev.tenon.models.qwen3";

    @TempDir
    Path folder;

    private static String provider(Bundle user, String name) {
        for (BundleWire wire : user.adapt(BundleWiring.class).getRequiredWires("osgi.wiring.package")) {
            if (name.equals(wire.getCapability().getAttributes().get("osgi.wiring.package"))) {
                return wire.getProvider().getBundle().getVersion().toString();
            }
        }
        throw new AssertionError(user + " does not import " + name);
    }

    private static void refused(Manager manager, Path jar, String reason) {
        TenonException e = assertThrows(TenonException.class, () -> manager.apply(jar));
        assertEquals(ErrorCode.BUNDLE_REJECTED, e.code(), e.getMessage());
        assertTrue(e.getMessage().matches("(?s)" + reason), e.getMessage());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void theBackendIsStartedAnewOnItsNewKernelSources(Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), true)) {
            osgi.startEverything();
            Manager manager = new Manager(osgi);
            Path kernels = Jars.ours("kernels-nvidia");
            for (String version : List.of("0.2.0", "0.3.0", "0.3.0.again")) {
                Path next = Jars.patched(kernels, folder.resolve(version + ".jar"), Map.of("Bundle-Version", version));
                String done = manager.apply(next);
                String[] said = done.split(", and restarted its users: ");
                assertTrue(said[0].endsWith(" was replaced by " + KERNELS + " " + version), done);
                List<String> users = List.of(said[1].split(", "));
                assertTrue(users.contains(CUDA), done);
                for (String user : users) {
                    assertEquals(1, manager.bundles(user).size(), user);
                    assertEquals("ACTIVE", Osgi.state(manager.bundles(user).getFirst()), user);
                }
                assertEquals(1, manager.bundles(KERNELS).size());
                Bundle cuda = manager.bundles(CUDA).getFirst();
                assertEquals(version, provider(cuda, KERNELS));
                assertEquals(
                        1,
                        osgi.references(BundlesIT.BACKEND, "(backend.id=cuda)").size());
            }
            refused(
                    manager,
                    Jars.patched(
                            kernels,
                            folder.resolve("less.jar"),
                            Map.of("Bundle-Version", "0.4.0", "Export-Package", "no.longer.there")),
                    KERNELS + " 0\\.4\\.0(: \\S+ 0\\.1\\.0, which uses it,)? did not start: .*" + KERNELS
                            + " 0\\.3\\.0\\.again stays in use.*");
            assertEquals("0.3.0.again", provider(manager.bundles(CUDA).getFirst(), KERNELS));
            assertTrue(manager.remove(KERNELS).contains("was replaced by " + KERNELS + " 0.1.0"));
            assertEquals("0.1.0", provider(manager.bundles(CUDA).getFirst(), KERNELS));
            assertEquals(1, manager.bundles(CUDA).size());
        }
    }

    /// A version of the architecture's bundle that lets others use its package.
    private Path exporting(String version, String exported) throws IOException {
        return Jars.patched(
                Jars.ours("models-qwen3"),
                folder.resolve("models-" + version + ".jar"),
                Map.of("Bundle-Version", version, "Export-Package", exported));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aModelMovesOnceToTheNewBundleAndToWhatUsesIt(Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), true)) {
            osgi.startEverything();
            Manager manager = new Manager(osgi);
            manager.apply(exporting("0.2.0", PACKAGE));
            Path formats = Jars.ours("quant-formats");
            manager.apply(Jars.patched(
                    formats,
                    folder.resolve("formats.jar"),
                    Map.of(
                            "Bundle-Version",
                            "0.2.0",
                            "Import-Package",
                            Jars.attributes(formats).getValue("Import-Package") + "," + PACKAGE)));
            LoadRequest request = LoadRequest.builder(Jars.model())
                    .contextLength(192)
                    .settings(Map.of("warmup", "off"))
                    .threads(2)
                    .build();
            try (LoadedModel model = osgi.service(Engine.class).load(request);
                    Session session = model.newSession()) {
                List<String> undisturbed = new ArrayList<>();
                generate(model, session, undisturbed, () -> {});
                session.truncate(0);
                List<String> events = new ArrayList<>();
                generate(model, session, events, () -> {
                    if (events.size() == 5) {
                        refused(
                                manager,
                                exporting("0.4.0", "no.longer.there"),
                                MODELS + " 0\\.4\\.0: " + FORMATS + " 0\\.2\\.0, which uses it, did not start: .*");
                    }
                    if (events.size() == 10) {
                        assertEquals(
                                MODELS + " 0.2.0 was replaced by " + MODELS + " 0.3.0, and restarted its users: "
                                        + FORMATS,
                                manager.apply(exporting("0.3.0", PACKAGE)));
                    }
                });
                String moved = MODELS + " 0.2.0 was replaced by " + MODELS + " 0.3.0 (cpu-vector)";
                assertTrue(events.indexOf(moved) >= 10, events.toString());
                events.remove(moved);
                assertEquals(undisturbed, events);
                Bundle user = manager.bundles(FORMATS).getFirst();
                assertEquals("0.2.0", user.getVersion().toString());
                assertEquals("0.3.0", provider(user, PACKAGE));
                assertEquals(1, manager.bundles(FORMATS).size());
            }
            TenonException used = assertThrows(
                    TenonException.class,
                    () -> manager.apply(Jars.patched(
                            Jars.ours("platform-core"),
                            folder.resolve("core.jar"),
                            Map.of("Bundle-Version", "0.2.0"))));
            assertEquals(ErrorCode.BUNDLE_FIXED, used.code());
        }
    }

    /// What happens between two tokens.
    private interface Between {
        void run() throws Exception;
    }

    private static void generate(LoadedModel model, Session session, List<String> events, Between onToken) {
        int[] prompt = model.tokenizer().encode("Once upon a time", true, false);
        session.generate(
                GenerationRequest.builder()
                        .prompt(prompt)
                        .sampling(SamplingParams.greedy())
                        .maxNewTokens(100)
                        .ignoreEndOfGeneration(true)
                        .build(),
                new GenerationListener() {
                    @Override
                    public void onText(String text) {}

                    @Override
                    public void onToken(GeneratedToken token) {
                        events.add(Integer.toString(token.id()));
                        try {
                            onToken.run();
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    }

                    @Override
                    public void onMoved(String reason) {
                        events.add(reason);
                    }
                });
    }
}
