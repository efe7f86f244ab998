package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.launcher.home.CacheFolder;
import dev.tenon.platform.launcher.home.Home;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Answers that need no framework the second time. The made-up command line says which process answered.
class KeptAnswersIT extends LauncherHome {
    @BeforeEach
    void noStartCache() throws IOException {
        Files.writeString(home.resolve("bin/aot-training"), ""); // none succeeds: that is not what is tested
    }

    private Result answer(String... environment) throws Exception {
        return finish(begin(environment).start());
    }

    /// The framework answers, each time with another process, until the last change lies a moment back.
    private Result keptAnswer(String... environment) throws Exception {
        awaitClock();
        Result last = null;
        for (Result next = answer(environment); !next.equals(last); next = answer(environment)) {
            last = next;
        }
        return last;
    }

    /// Waits until the clock has passed the moment in which nothing is kept after a change.
    private static void awaitClock() throws InterruptedException {
        long end = System.currentTimeMillis() + KeptAnswers.SLACK_MILLIS;
        while (System.currentTimeMillis() <= end) {
            Thread.sleep(10);
        }
    }

    private ProcessBuilder begin(String... environment) {
        List<String> variables = new ArrayList<>(List.of("TENON_AOT=", "TENON_LOG=warn"));
        variables.addAll(List.of(environment));
        return prepared(List.of(script(), "answer"), "", variables.toArray(String[]::new));
    }

    @Test
    void theSecondAnswerIsTheFirstUntilABundleComesOrGoes() throws Exception {
        Result first = keptAnswer();
        assertEquals(List.of(), first.err());
        assertEquals(3, first.code());
        assertTrue(first.out().getFirst().startsWith("answered by "), first::toString);

        Path jar = new FakeBundle("fake.more").write(home.resolve("deploy/more.jar"));
        Result more = keptAnswer();
        assertNotEquals(first, more);
        Files.delete(jar);
        assertFalse(Set.of(first, more).contains(answer()), "the framework answers");

        Files.writeString(home.resolve("etc/a.cfg"), "a = b");
        Result configured = keptAnswer();
        Files.writeString(home.resolve("etc/a.cfg"), "a = c");
        assertNotEquals(configured, answer());
    }

    @Test
    void whereSomethingIsReportedNothingIsKept() throws Exception {
        Files.writeString(home.resolve("deploy/bad.jar"), "no jar");
        awaitClock();
        Result first = answer();
        assertTrue(contains(first.err(), "bad.jar"), first::toString);
        assertNotEquals(first.out(), answer().out());
    }

    @Test
    void aBundleThatIsNotTrustedAnyMoreAnswersNothing() throws Exception {
        keptAnswer();
        Files.writeString(home.resolve("etc/dev.tenon.platform.bundles.cfg"), "bundles.trust = listed\n");
        Result untrusted = answer();
        assertEquals(1, untrusted.code(), untrusted::toString);
        assertEquals(List.of(), untrusted.out());
        assertTrue(contains(untrusted.err(), "BUNDLE-005"), untrusted::toString);
    }

    @Test
    void processesAtOnceAnswerAndOneAnswerIsKept() throws Exception {
        awaitClock();
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            processes.add(begin().redirectError(folder.resolve("err" + i).toFile())
                    .redirectOutput(folder.resolve("out" + i).toFile())
                    .start());
        }
        List<List<String>> answers = new ArrayList<>();
        for (int i = 0; i < processes.size(); i++) {
            assertTrue(processes.get(i).waitFor(10, TimeUnit.MINUTES), "the process does not end");
            assertEquals(3, processes.get(i).exitValue());
            assertEquals(List.of(), Files.readAllLines(folder.resolve("err" + i)));
            answers.add(Files.readAllLines(folder.resolve("out" + i)));
        }
        assertTrue(answers.contains(answer().out()));
        try (Stream<Path> files = Files.list(home.resolve("cache/answers"))) {
            assertEquals(1, files.count());
        }
    }

    @Test
    void aHomeThatCannotBeWrittenHasItsAnswersWithTheUserOrNone() throws Exception {
        Files.writeString(home.resolve("cache"), "in the way of the folder");
        String own = "XDG_CACHE_HOME=" + Files.createDirectory(folder.resolve("own"));
        keptAnswer(own);
        String none = "XDG_CACHE_HOME=" + home.resolve("cache/none");
        assertNotEquals(answer(none), answer(none));
    }

    @Test
    void outputThatIsLostIsReportedByTheCommandLine() throws Exception {
        keptAnswer();
        Process process = begin().redirectOutput(Path.of("/dev/full").toFile()).start();
        assertTrue(process.waitFor(10, TimeUnit.MINUTES), "the process does not end");
        assertEquals(List.of("the command line was asked"), Files.readAllLines(folder.resolve("stderr")));
    }

    /// The finished commands, with and without the framework.
    @Test
    void helpAndCompletionAreTheSame() throws Exception {
        copyBundles();
        awaitClock();
        for (String line : List.of("", "help run", "completion fish")) {
            Result without = tenon("TENON_AOT=off", line);
            Set<String> before = kept();
            assertEquals(without, tenon("TENON_AOT=", line), line);
            assertEquals(before.size() + 1, kept().size(), line);
            assertEquals(without, tenon("TENON_AOT=", line), line);
            assertEquals(before.size() + 1, kept().size(), line);
        }
        Set<String> before = kept();
        for (String line : List.of("show none", "run --tmep 1", "rnu")) {
            tenon("TENON_AOT=", line);
            assertEquals(before, kept(), line);
        }
    }

    /// With the jar of a doctor, which has commands, as one of a third party.
    @Test
    void helpListsCommandsThatCameAndNoneThatWent() throws Exception {
        copyBundles();
        Path jar = Home.files(home.resolve("bundles"), ".jar").stream()
                .filter(each -> each.getFileName().toString().startsWith("tenon-itest-nv-tegra"))
                .findFirst()
                .orElseThrow();
        Path deployed = home.resolve("deploy/third.jar");
        for (boolean there : new boolean[] {true, false, true}) {
            Files.move(there ? jar : deployed, there ? deployed : jar.resolveSibling("third.jar.off"));
            jar = jar.resolveSibling("third.jar.off");
            awaitClock();
            for (int i = 0; i < 3; i++) {
                Result help = tenon("TENON_AOT=", "--help");
                assertEquals(there, help.out().stream().anyMatch(line -> line.startsWith("  nv ")), help::toString);
            }
        }
        assertEquals(2, tenon("TENON_AOT=", "nv --typo").code());
    }

    private void copyBundles() throws IOException {
        CacheFolder.delete(home.resolve("bundles"));
        copy(Path.of(System.getProperty("tenon.test.home")).resolve("bundles"), home.resolve("bundles"));
    }

    private Result tenon(String aot, String line) throws Exception {
        List<String> command = new ArrayList<>(List.of(script()));
        Stream.of(line.split(" ")).filter(word -> !word.isEmpty()).forEach(command::add);
        return finish(start(command, "", aot));
    }

    private Set<String> kept() throws IOException {
        if (!Files.exists(home.resolve("cache/answers"))) {
            return Set.of();
        }
        try (Stream<Path> files = Files.list(home.resolve("cache/answers"))) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        }
    }
}
