package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.itest.framework.Installation.Result;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What people are told, and asked, when bundles of a running process change, and which process that is.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class BundleChangesIT {
    @TempDir
    Path folder;

    private Installation installation;
    private Path home;

    @BeforeEach
    void copyDistribution() throws IOException {
        installation = Installation.copy(folder);
        home = installation.home();
    }

    /// The versions are those of a bundle that no model uses; `deploy/` is watched meanwhile.
    @Test
    void aLowerVersionComesOnlyWhereItIsMeant() throws Exception {
        try (RunningChat chat = new RunningChat(installation)) {
            Path jar = home.resolve("deploy/olmo.jar");
            Files.write(jar, olmo("0.6.0"));
            chat.awaitLog(
                    "INFO bundles - olmo.jar: dev.tenon.models.olmo 0.1.0 was replaced by dev.tenon.models.olmo 0.6.0");
            Files.write(jar, olmo("0.5.0"));
            chat.awaitLog(
                    "deploy/olmo.jar is ignored: dev.tenon.models.olmo 0.5.0 is older than 0.6.0, which stays in use");
            Path lower = Files.write(folder.resolve("lower.jar"), olmo("0.5.0"));
            Result refused = installation.tenon("bundles", "update", lower.toString());
            assertEquals(1, refused.code(), refused::out);
            assertTrue(refused.err().contains("0.5.0 is older than 0.6.0"), refused::err);
            assertTrue(refused.err().contains("--downgrade"), refused::err);
            Result done = installation.tenon("bundles", "update", "--downgrade", lower.toString());
            assertEquals(0, done.code(), done::err);
            String line = "dev.tenon.models.olmo 0.6.0 was replaced by dev.tenon.models.olmo 0.5.0, an older version";
            assertTrue(done.out().contains(line), done::out);
            chat.awaitLog("INFO bundles - " + line);
            Files.write(home.resolve("deploy/second.jar"), olmo("0.7.0"));
            chat.awaitLog(
                    "dev.tenon.models.olmo-0.5.0.jar is ignored: second.jar holds dev.tenon.models.olmo 0.7.0, which is"
                            + " newer than its 0.5.0");
        }
    }

    @Test
    void aBundleThatWasBuiltAgainstOtherClassesIsRefusedEvenIfNobodyUsesIt() throws Exception {
        try (RunningChat chat = new RunningChat(installation)) {
            Path broken = Jars.misbuilt(
                    Jars.ours("models-olmo"),
                    folder.resolve("broken.jar"),
                    "0.2.0",
                    "dev.tenon.models.olmo.Olmo2Architecture",
                    "attentionParams");
            Result refused = installation.tenon("bundles", "install", broken.toString());
            assertEquals(1, refused.code(), refused::out);
            assertTrue(
                    refused.err()
                            .contains("dev.tenon.models.olmo.Olmo2Architecture: no method"
                                    + " dev.tenon.api.model.blocks.DecoderBlocks.noSuchMethod("),
                    refused::err);
            assertTrue(refused.err().contains("[BUNDLE-002]"), refused::err);
        }
    }

    /// Also where nobody asked for a level of the log.
    @Test
    void whoLooksAtAChatSeesBundlesComeAndGo() throws Exception {
        try (RunningChat chat = new RunningChat(installation.with("TENON_LOG", ""))) {
            ControlChannel control = chat.control();
            for (int i = 1; i <= 3; i++) {
                Path jar = Files.write(folder.resolve("olmo.jar"), olmo("0.6." + i));
                assertTrue(control.ask("install", jar.toString()).path("ok").asBoolean());
                chat.awaitLog("INFO bundles - dev.tenon.models.olmo 0." + (i == 1 ? "1.0" : "6." + (i - 1))
                        + " was replaced by dev.tenon.models.olmo 0.6." + i);
            }
            assertTrue(control.ask("remove", "dev.tenon.models.olmo").path("ok").asBoolean());
            chat.awaitLog("INFO bundles - dev.tenon.models.olmo 0.6.3 was replaced by dev.tenon.models.olmo 0.1.0");
        }
    }

    /// One thread replaces a bundle while another one lists.
    @Test
    void aListIsOfItsMoment() throws Exception {
        try (Osgi osgi = new Osgi(Osgi.Kind.FELIX, folder.resolve("cache"), true);
                ExecutorService threads = Executors.newFixedThreadPool(1)) {
            osgi.startEverything();
            Manager manager = new Manager(osgi);
            List<Path> jars = List.of(olmoJar("0.6.0"), olmoJar("0.7.0"));
            Future<?> updates = threads.submit(() -> {
                for (int i = 0; i < 100; i++) {
                    manager.apply(jars.get(i % 2));
                }
            });
            Method list = manager.type("dev.tenon.platform.bundles.listing.OsgiBundles")
                    .getMethod("all");
            do {
                String listed = list.invoke(null).toString();
                assertTrue(listed.contains("dev.tenon.models.olmo"), listed);
                assertFalse(listed.contains("UNINSTALLED"), listed);
            } while (!updates.isDone());
            updates.get();
        }
    }

    /// Of its own thread, and of no lock: it may ask the manager.
    @Test
    void listenersAreToldWhatTheManagerDid() throws Exception {
        try (Osgi osgi = new Osgi(Osgi.Kind.FELIX, folder.resolve("cache"), true)) {
            osgi.startEverything();
            Manager manager = new Manager(osgi);
            List<BundleChange> heard = new CopyOnWriteArrayList<>();
            osgi.register(BundleChangeListener.class, change -> {
                throw new IllegalStateException("a listener that is broken");
            });
            osgi.register(BundleChangeListener.class, change -> {
                manager.takenIds();
                heard.add(change);
            });
            Path format = Jars.patched(
                    Jars.ours("models-olmo"),
                    folder.resolve("other.jar"),
                    Map.of("Bundle-SymbolicName", "org.example.other"));
            Path newer = olmoJar("0.6.0");
            manager.apply(newer);
            manager.apply(newer); // runs already; another file would have other dates, and be an update
            assertThrows(RuntimeException.class, () -> manager.apply(format));
            manager.remove("dev.tenon.models.olmo");
            Osgi.await("three changes", () -> heard.size() == 3);
            assertEquals(
                    List.of(
                            "UPDATED dev.tenon.models.olmo 0.1.0 0.6.0",
                            "REFUSED org.example.other  0.1.0",
                            "UPDATED dev.tenon.models.olmo 0.6.0 0.1.0"),
                    heard.stream()
                            .map(each ->
                                    each.kind() + " " + each.name() + " " + each.oldVersion() + " " + each.version())
                            .toList());
            assertTrue(heard.get(1).text().contains("architecture olmo2 is offered by"), heard::toString);
        }
    }

    private byte[] olmo(String version) throws IOException {
        return Files.readAllBytes(olmoJar(version));
    }

    /// A bundle that no model uses here.
    private Path olmoJar(String version) throws IOException {
        return Jars.patched(
                Jars.ours("models-olmo"),
                folder.resolve("olmo-" + version + ".jar"),
                Map.of("Bundle-Version", version));
    }

    @Test
    void aTreeThatWasCopiedWhileTenonRanIsAnInstallationOfItsOwn() throws Exception {
        try (RunningChat chat = new RunningChat(installation)) {
            chat.control();
            Path copy = folder.resolve("copy");
            Process copying = new ProcessBuilder("cp", "-r", home.toString(), copy.toString()).start();
            assertEquals(0, copying.waitFor());
            Path pointer = copy.resolve("cache/running")
                    .resolve(Long.toString(chat.process().pid()));
            assertTrue(Files.exists(pointer), "the copy names the process of the original");
            Result done = new Installation(copy, installation.environment())
                    .tenon("bundles", "install", olmoJar("0.5.0").toString());
            assertEquals(0, done.code(), done::err);
            assertFalse(done.out().contains("in process"), done::out);
            assertEquals(List.of(), jars(home.resolve("deploy")));
            assertEquals(List.of("dev.tenon.models.olmo-0.5.0.jar"), jars(copy.resolve("deploy")));
        }
    }

    private static List<String> jars(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jar"))
                    .toList();
        }
    }
}
