package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.itest.framework.Installation.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The distribution's script as processes: one that chats, and others that change its bundles.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class RunningPlatformIT {
    private static final String MODELS = "dev.tenon.models.qwen3";

    @TempDir
    Path folder;

    private Path home;

    private Installation installation;

    @BeforeEach
    void copyDistribution() throws IOException {
        installation = Installation.copy(folder);
        home = installation.home();
    }

    private Result tenon(String... args) throws Exception {
        return installation.tenon(args);
    }

    private Path version(String version) throws IOException {
        Path jar = folder.resolve("models-" + version + ".jar");
        return Jars.patched(Jars.ours("models-qwen3"), jar, Map.of("Bundle-Version", version));
    }

    private Path log;

    private Process chat() throws Exception {
        log = folder.resolve("chat-err.txt");
        Process chat = installation.start(
                log,
                "chat",
                "-m",
                home.resolve("models").resolve(Jars.model().getFileName()).toString(),
                "-n",
                "24");
        Path running = home.resolve("cache/running").resolve(Long.toString(chat.pid()));
        for (int i = 0; i < 12_000 && !Files.exists(running) && chat.isAlive(); i++) {
            Thread.sleep(50);
        }
        assertTrue(Files.exists(running), () -> "no control channel: " + read(log));
        return chat;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void awaitLog(String text) throws Exception {
        for (int i = 0; i < 6000 && !read(log).contains(text); i++) {
            Thread.sleep(50);
        }
        assertTrue(read(log).contains(text), () -> "not logged within minutes: " + text + "\n" + read(log));
    }

    private static void end(Process chat) throws Exception {
        chat.outputWriter().close();
        chat.getInputStream().readAllBytes();
        assertTrue(chat.waitFor(10, TimeUnit.MINUTES), "the chat does not end");
    }

    @Test
    void jarsThatAreDroppedOverwrittenCutOffAndDeletedComeAndGo() throws Exception {
        List<Path> leftByKilledProcesses = List.of(
                home.resolve("cache/running/999999999"),
                home.resolve("cache/running/.999999999.999999999.part"),
                home.resolve("deploy/.models-0.4.0.jar.999999999.part"));
        for (Path left : leftByKilledProcesses) {
            Files.createDirectories(left.getParent());
            Files.createFile(left);
        }
        Process chat = chat();
        try {
            for (Path left : leftByKilledProcesses) {
                assertFalse(Files.exists(left), left.toString());
            }
            Path jar = home.resolve("deploy/models.jar");
            byte[] whole = Files.readAllBytes(version("0.5.0"));
            Files.write(jar, Arrays.copyOf(whole, whole.length / 2));
            awaitLog("deploy/models.jar is ignored: ");
            awaitLog("[BUNDLE-001]");
            Result problems = tenon("bundles", "--problems");
            assertTrue(problems.out().contains("deploy/models.jar is ignored: "), problems::toString);
            Result doctor =
                    installation.with("TENON_MODEL", Jars.model().toString()).tenon("doctor");
            assertTrue(doctor.out().contains("jar deploy/models.jar"), doctor::toString);
            Files.write(jar, whole);
            awaitLog(MODELS + " 0.1.0 was replaced by " + MODELS + " 0.5.0");
            // Over it: a file that is seen to be gone in between brings the distribution's version back first.
            Files.write(jar, Files.readAllBytes(version("0.6.0")));
            awaitLog(MODELS + " 0.5.0 was replaced by " + MODELS + " 0.6.0");
            Files.delete(jar);
            awaitLog(MODELS + " 0.6.0 was replaced by " + MODELS + " 0.1.0");
        } finally {
            end(chat);
        }
    }

    @Test
    void aBundleGoesWithItsJarAlsoAfterABrokenOneWasLaidOverIt() throws Exception {
        Process chat = chat();
        try {
            chat.outputWriter().write("Once upon a time\n");
            chat.outputWriter().flush();
            Path jar = home.resolve("deploy/example.jar");
            Map<String, String> headers = Map.of(
                    "Bundle-SymbolicName", "org.example.quiet", "Bundle-Version", "1.0.0", "Service-Component", "");
            byte[] whole =
                    Files.readAllBytes(Jars.patched(Jars.ours("models-qwen3"), folder.resolve("quiet.jar"), headers));
            Files.write(jar, whole);
            awaitLog("org.example.quiet 1.0.0 was installed");
            assertEquals(
                    "All bundles are running.\n", tenon("bundles", "--problems").out());
            Files.write(jar, Arrays.copyOf(whole, whole.length / 2));
            awaitLog("deploy/example.jar is ignored: ");
            Result laidOver = tenon("bundles", "--problems");
            assertTrue(laidOver.out().contains("deploy/example.jar is ignored: "), laidOver::toString);
            assertTrue(tenon("bundles").out().contains("org.example.quiet"), "it runs on");
            Map<String, String> unresolved = Map.of(
                    "Bundle-SymbolicName", "org.example.quiet", "Bundle-Version", "2.0.0", "Import-Package", "no.such");
            Files.write(
                    jar,
                    Files.readAllBytes(Jars.patched(Jars.ours("models-qwen3"), folder.resolve("b.jar"), unresolved)));
            awaitLog("deploy/example.jar is ignored: org.example.quiet 2.0.0 did not start");
            Files.delete(jar);
            awaitLog("example.jar was deleted: org.example.quiet 1.0.0 was removed");
            assertEquals(
                    "All bundles are running.\n", tenon("bundles", "--problems").out());
            assertFalse(tenon("bundles").out().contains("org.example.quiet"));
        } finally {
            end(chat);
        }
    }

    @Test
    void aJarThatWantsTheIdsOfAnotherComesWhenThatOneHasGone() throws Exception {
        Files.delete(home.resolve("bundles").resolve(Jars.ours("models-llama").getFileName()));
        Process chat = chat();
        try {
            for (String name : List.of("first", "second")) {
                Path jar = Jars.patched(
                        Jars.ours("models-llama"),
                        folder.resolve(name + ".jar"),
                        Map.of("Bundle-SymbolicName", "org.example." + name));
                Files.copy(jar, home.resolve("deploy/" + name + ".jar"));
                awaitLog("org.example." + name + " 0.1.0 was ");
            }
            awaitLog(" is offered by org.example.first 0.1.0 already");
            Files.delete(home.resolve("deploy/first.jar"));
            awaitLog("org.example.second 0.1.0 was installed");
            assertEquals(
                    "All bundles are running.\n", tenon("bundles", "--problems").out());
        } finally {
            end(chat);
        }
    }

    @Test
    void aJarThatASettingPrefersHasItsIdsFromItsArrivalToItsDeletion() throws Exception {
        Files.writeString(
                home.resolve("etc/dev.tenon.platform.cfg"),
                "\nprefer.architecture.qwen3 = org.example.preferred\n",
                StandardOpenOption.APPEND);
        String model =
                home.resolve("models").resolve(Jars.model().getFileName()).toString();
        Process chat = chat();
        try {
            Map<String, String> headers = Map.of(
                    "Bundle-SymbolicName",
                    "org.example.preferred",
                    "Service-Component",
                    "OSGI-INF/dev.tenon.models.qwen3.Qwen3Architecture.xml");
            Path jar = Jars.patched(Jars.ours("models-qwen3"), folder.resolve("preferred.jar"), headers);
            Files.copy(jar, home.resolve("deploy/some.jar"));
            awaitLog("org.example.preferred 0.1.0 was ");
            assertTrue(read(log).contains("org.example.preferred 0.1.0 was installed"), () -> read(log));
            Result arrived = tenon("bundles", "--why", "-m", model);
            assertTrue(arrived.out().contains("org.example.preferred"), arrived::toString);
            Result problems = tenon("bundles", "--problems");
            assertTrue(
                    problems.out().contains("architecture qwen3 is offered by org.example.preferred 0.1.0 already"),
                    problems::toString);
            chat.outputWriter().write("Once upon a time\n");
            chat.outputWriter().flush();
            assertFalse(chat.inputReader().readLine().isBlank(), "the loaded model goes on");
            Files.delete(home.resolve("deploy/some.jar"));
            awaitLog("some.jar was deleted: org.example.preferred 0.1.0 was removed");
            Result gone = tenon("bundles", "--why", "-m", model);
            assertFalse(gone.out().contains("org.example.preferred"), gone::toString);
        } finally {
            end(chat);
        }
    }

    /// Long: a start-up cache is being recorded, which takes seconds.
    @Test
    @Tag("long")
    void anUpdateDoesNotGoToTheProcessThatRecordsTheStartUpCache() throws Exception {
        Path model = home.resolve("models").resolve(Jars.model().getFileName());
        Files.writeString(
                home.resolve("bin/aot-training"), "run -m " + model + " -p Once -n 100000 -c 120000 --ignore-eos\n");
        log = folder.resolve("recording-err.txt");
        Process maker = installation.with("TENON_AOT", "make").start(log);
        try {
            Path loaded = home.resolve("cache/aot.load");
            for (int i = 0; i < 12_000 && !opensItsChannel(loaded) && maker.isAlive(); i++) {
                Thread.sleep(50);
            }
            assertTrue(opensItsChannel(loaded), () -> "nothing is recorded: " + read(log));
            Result updated = tenon("bundles", "update", version("0.5.0").toString());
            assertEquals(0, updated.code(), updated::toString);
            assertFalse(updated.out().contains(" in process "), updated::toString);
            assertTrue(maker.isAlive(), "it records");
        } finally {
            List<ProcessHandle> all = maker.descendants().toList();
            maker.destroy();
            all.forEach(ProcessHandle::destroy);
            assertTrue(maker.waitFor(10, TimeUnit.MINUTES), "the recording does not end");
        }
    }

    private static boolean opensItsChannel(Path loaded) {
        return Files.exists(loaded) && read(loaded).contains(".control.ControlServer ");
    }

    @Test
    void whatIsNoBundleGivesOneLineEach() throws Exception {
        Process chat = chat();
        try {
            Path deploy = home.resolve("deploy");
            Path taken = Jars.patched(
                    Jars.ours("quant-formats"),
                    folder.resolve("taken.jar"),
                    Map.of("Bundle-SymbolicName", "org.example.copy"));
            Files.createDirectories(deploy.resolve("folder/below"));
            Files.createDirectory(deploy.resolve("folder.jar"));
            Files.createFile(deploy.resolve("empty.jar"));
            Files.writeString(deploy.resolve("text.jar"), "no jar\n");
            Files.writeString(deploy.resolve("notes.txt"), "no jar\n");
            Files.writeString(deploy.resolve("dev.tenon.platform.cfg"), "backend = none\n");
            Files.copy(taken, deploy.resolve("taken.jar"));
            List<String> names = List.of(
                    "folder",
                    "folder.jar",
                    "empty.jar",
                    "text.jar",
                    "notes.txt",
                    "dev.tenon.platform.cfg",
                    "taken.jar");
            for (String name : names) {
                awaitLog("deploy/" + name + " is ignored: ");
            }
            Result problems = tenon("bundles", "--problems");
            for (String name : names) {
                String start = "deploy/" + name + " is ignored: ";
                assertTrue(problems.out().contains(start), problems::toString);
                assertEquals(
                        1,
                        read(log).lines().filter(line -> line.contains(start)).count(),
                        () -> read(log));
            }
            assertFalse(read(log).contains("Exception"), () -> read(log));
            assertFalse(read(log).contains("SEVERE"), () -> read(log));
            assertTrue(
                    read(log).contains("format F32 is offered by dev.tenon.quant.formats 0.1.0 already"),
                    () -> read(log));
            assertTrue(read(log).contains("[CFG-002]"), () -> read(log));
        } finally {
            end(chat);
        }
    }

    @Test
    void otherLogitsAreTakenOnlyByWhoAcceptsThem() throws Exception {
        Path other = Jars.rotatingNeighbours(folder.resolve("other.jar"), "0.4.0");
        Process chat = chat();
        try {
            Result refused = tenon("bundles", "update", other.toString());
            assertEquals(1, refused.code(), refused::toString);
            assertTrue(refused.err().contains("[BUNDLE-007]"), refused::toString);
            assertTrue(refused.err().contains("NMSE"), refused::toString);
            Files.copy(other, home.resolve("deploy/other.jar"));
            awaitLog("deploy/other.jar is ignored: " + MODELS + " 0.4.0 computes something else");
            assertTrue(version(tenon("bundles", "--json"), "0.1.0"));

            Result accepted = tenon("bundles", "update", "--accept-changed-results", other.toString());
            assertEquals(0, accepted.code(), accepted::toString);
            assertTrue(
                    accepted.out()
                            .contains(MODELS + " 0.1.0 was replaced by " + MODELS
                                    + " 0.4.0; the logits of a short text on "),
                    accepted::toString);
            assertTrue(version(tenon("bundles", "--json"), "0.4.0"));
            assertFalse(Files.exists(home.resolve("deploy/other.jar")), "kept under the bundle's name alone");
            // Back, without other logits by accident: these are refused, too.
            refused = tenon("bundles", "update", version("0.5.0").toString());
            assertTrue(refused.err().contains("[BUNDLE-007]"), refused::toString);
        } finally {
            end(chat);
        }
    }

    @Test
    void otherDecodingsAreTakenOnlyByWhoAcceptsThem() throws Exception {
        Path other = Jars.withOtherLevels(folder.resolve("other.jar"), "0.4.0");
        Process chat = chat();
        try {
            Result refused = tenon("bundles", "install", other.toString());
            assertEquals(1, refused.code(), refused::toString);
            assertTrue(refused.err().contains(" computes something else: format Q4_0 decodes element "), refused::err);
            assertTrue(refused.err().contains("--accept-changed-results"), refused::err);
            assertTrue(refused.err().contains("[BUNDLE-007]"), refused::err);
            Result accepted = tenon("bundles", "install", "--accept-changed-results", other.toString());
            assertEquals(0, accepted.code(), accepted::toString);
        } finally {
            end(chat);
        }
    }

    @Test
    void aRunningPlatformIsReachedByItsOwnerAlone() throws Exception {
        Process chat = chat();
        try {
            Path pointer = home.resolve("cache/running").resolve(Long.toString(chat.pid()));
            Path socket = Path.of(Files.readAllLines(pointer).getFirst());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(pointer)));
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket.getParent())));

            Result installed = tenon("bundles", "install", version("0.5.0").toString());
            assertEquals(0, installed.code(), installed::toString);
            assertTrue(
                    installed
                            .out()
                            .contains(MODELS + " 0.1.0 was replaced by " + MODELS + " 0.5.0 in process " + chat.pid()),
                    installed::toString);
            assertTrue(Files.exists(home.resolve("deploy/" + MODELS + "-0.5.0.jar")));
            assertTrue(version(tenon("bundles", "--json"), "0.5.0"));

            Path bad = folder.resolve("bad.jar");
            Jars.patched(
                    Jars.ours("models-qwen3"),
                    bad,
                    Map.of("Bundle-Version", "0.7.0", "Import-Package", "no.such.thing"));
            Result refused = tenon("bundles", "update", bad.toString());
            assertEquals(1, refused.code(), refused::toString);
            assertTrue(refused.err().contains("no.such.thing"), refused::toString);
            assertTrue(refused.err().contains(MODELS + " 0.5.0 stays in use"), refused::toString);
            assertTrue(refused.err().contains("[BUNDLE-002]"), refused::toString);

            Result removed = tenon("bundles", "remove", MODELS);
            assertEquals(0, removed.code(), removed::toString);
            assertFalse(Files.exists(home.resolve("deploy/" + MODELS + "-0.5.0.jar")));
            assertTrue(version(tenon("bundles", "--json"), "0.1.0"));
        } finally {
            end(chat);
        }
        assertFalse(
                Files.exists(home.resolve("cache/running").resolve(Long.toString(chat.pid()))), "the channel's file");
    }

    @Test
    void anInstallationThatDoesNotRunIsChangedToo() throws Exception {
        Result verified = tenon("bundles", "verify", version("0.5.0").toString());
        assertTrue(verified.out().contains(MODELS + " 0.5.0 is complete. SHA-256 "), verified::toString);
        Result installed = tenon("bundles", "install", version("0.5.0").toString());
        assertEquals(0, installed.code(), installed::toString);
        assertTrue(version(tenon("bundles", "--json"), "0.5.0"));

        Path bad = folder.resolve("half.jar");
        byte[] whole = Files.readAllBytes(version("0.8.0"));
        Files.write(bad, Arrays.copyOf(whole, whole.length - 100));
        Result refused = tenon("bundles", "install", bad.toString());
        assertEquals(1, refused.code(), refused::toString);
        assertTrue(refused.err().contains("[BUNDLE-001]"), refused::toString);

        Result removed = tenon("bundles", "remove", MODELS);
        assertEquals(0, removed.code(), removed::toString);
        assertTrue(version(tenon("bundles", "--json"), "0.1.0"));
    }

    @Test
    void whyTellsEveryChoiceWithAllCandidates() throws Exception {
        String model =
                home.resolve("models").resolve(Jars.model().getFileName()).toString();
        Result json = tenon("bundles", "--why", "--json", "-m", model);
        assertEquals(0, json.code(), json::toString);
        JsonNode root = new ObjectMapper().readTree(json.out());
        List<String> kinds = new ArrayList<>();
        for (JsonNode choice : root.path("choices")) {
            kinds.add(choice.path("kind").asText());
            int taken = 0;
            for (JsonNode candidate : choice.path("candidates")) {
                taken += candidate.path("taken").asBoolean() ? 1 : 0;
                assertFalse(candidate.path("reason").asText().isEmpty(), candidate::toString);
                assertFalse(candidate.path("bundle").asText().isEmpty(), candidate::toString);
            }
            assertTrue(taken > 0, () -> "nothing taken: " + choice);
        }
        assertTrue(
                kinds.containsAll(List.of("architecture", "format", "backend", "device", "kernel")), kinds::toString);
        JsonNode architectures = root.path("choices").get(0).path("candidates");
        assertTrue(architectures.size() > 1, architectures::toString);

        Result table = tenon("bundles", "--why", "-m", model);
        assertTrue(
                table.out()
                        .lines()
                        .anyMatch(l ->
                                l.matches("  - llama +dev\\.tenon\\.models\\.llama 0\\.1\\.0 +the model's is 'qwen3'")),
                table::toString);
        assertTrue(table.out().lines().anyMatch(l -> l.startsWith("  + cpu-vector ")), table::toString);
    }

    private static boolean version(Result list, String version) throws IOException {
        for (JsonNode bundle : new ObjectMapper().readTree(list.out())) {
            if (bundle.path("name").asText().equals(MODELS)) {
                assertEquals(version, bundle.path("version").asText(), list::toString);
                return true;
            }
        }
        throw new AssertionError("no bundle " + MODELS + ": " + list);
    }
}
