package dev.tenon.platform.launcher;

import static java.nio.file.attribute.PosixFilePermission.OWNER_EXECUTE;
import static java.nio.file.attribute.PosixFilePermission.OWNER_READ;
import static java.nio.file.attribute.PosixFilePermission.OWNER_WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.trust.SignedJar;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What the distribution's script and the launcher promise.
class LauncherIT extends LauncherHome {
    private static final String BROKEN_ACTIVATOR = """
            package fake;
            public class Broken implements org.osgi.framework.BundleActivator {
                public void start(org.osgi.framework.BundleContext c) { throw new IllegalStateException("no driver"); }
                public void stop(org.osgi.framework.BundleContext c) {}
            }
            """;

    @Test
    void argumentsAndExitCodePassThroughAndStandardOutputHoldsTheAnswerOnly() throws Exception {
        Result echo = run("echo", "a b", "", "*", "ü", "$x");
        assertEquals(List.of("echo|a b||*|ü|$x"), echo.out());
        assertEquals(List.of(), echo.err());
        assertEquals(0, echo.code());

        assertEquals(7, run("exit", "7").code());
    }

    @Test
    void theVersionNeedsNoBundle() throws Exception {
        String distribution = Path.of(System.getProperty("tenon.test.home"))
                .getFileName()
                .toString()
                .replace('-', ' ');
        for (String option : List.of("--version", "-V")) {
            Result version = run(option); // the made-up command line would fail
            assertEquals(List.of(distribution), version.out());
            assertEquals(List.of(), version.err());
            assertEquals(0, version.code());
        }
        if (Files.exists(Path.of("/dev/full"))) {
            Result full = finish(start(List.of("sh", "-c", "'" + script() + "' --version >/dev/full"), ""));
            assertEquals(1, full.code());
            assertTrue(full.err().getFirst().contains("[IO-001]"), full::toString);
        }
    }

    @Test
    void startsThroughASymbolicLinkFromAnyFolder() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), home.resolve("bin/tenon"));

        Result result = finish(start(List.of(link.toString(), "echo", "x"), ""));

        assertEquals(List.of("echo|x"), result.out());
    }

    @Test
    void unexpectedExceptionIsOneLineAndEndsTheProcess() throws Exception {
        Result result = run("throw");

        assertEquals(1, result.code());
        assertEquals(
                List.of("tenon: unexpected java.lang.IllegalStateException: boom"
                        + " (TENON_LOG=debug shows the stack trace)"),
                result.err());
        assertEquals(List.of(), result.out());
    }

    @Test
    void logGoesToStandardErrorFromWarningsUp() throws Exception {
        Result result = run("log");

        assertEquals(List.of("WARN Cli - one 1"), result.err());
        assertEquals(List.of(), result.out());
    }

    @Test
    void aLogLineNeverLandsInsideATextThatGoesToTheSamePlace() throws Exception {
        Path both = folder.resolve("both");
        ProcessBuilder together = prepared(List.of(script(), "text"), "");
        together.redirectErrorStream(true).redirectOutput(both.toFile());
        assertTrue(together.start().waitFor(10, TimeUnit.MINUTES), "the process does not end");
        assertEquals(
                List.of("the princess was", "WARN Cli - one", "WARN Cli - two", " in the garden", "WARN Cli - three"),
                Files.readAllLines(both));

        Result apart = run("text");
        assertEquals(List.of("the princess was in the garden"), apart.out());
        assertEquals(List.of("WARN Cli - one", "WARN Cli - two", "WARN Cli - three"), apart.err());
    }

    @Test
    void vectorModuleAndTheBundlesClassLoaderAreThere() throws Exception {
        assertEquals(List.of("true"), run("loader").out());
        assertEquals(0, run("vector").code());
    }

    @Test
    void brokenBundlesAreReportedAndDoNotHinderTheOthers() throws Exception {
        Files.writeString(home.resolve("bundles/aaa-text.jar"), "this is no jar");
        new FakeBundle("fake.unresolved")
                .header("Import-Package", "no.such.thing")
                .write(home.resolve("bundles/unresolved.jar"));
        new FakeBundle("fake.broken")
                .header("Import-Package", "org.osgi.framework")
                .header("Bundle-Activator", "fake.Broken")
                .type("fake.Broken", BROKEN_ACTIVATOR)
                .write(home.resolve("bundles/broken.jar"));

        Result result = run("problems");

        assertEquals(0, result.code());
        assertEquals(3, result.out().size(), result::toString);
        assertTrue(result.out().get(0).startsWith("bundles/aaa-text.jar was not installed: "), result::toString);
        assertTrue(contains(result.out(), "fake.unresolved 1.0.0 did not start: ", "no.such.thing"), result::toString);
        assertTrue(contains(result.out(), "fake.broken 1.0.0 did not start: ", "no driver"), result::toString);
        assertEquals(3, result.err().size(), result::toString);
        assertTrue(result.err().stream().allMatch(line -> line.startsWith("WARN Platform - ")), result::toString);
    }

    @Test
    void missingCommandLineNamesWhatFailed() throws Exception {
        Files.delete(home.resolve("bundles/fake-cli.jar"));
        cliBundle()
                .header("Import-Package", "org.osgi.framework,org.slf4j,no.such.thing")
                .write(home.resolve("bundles/fake-cli.jar"));

        Result result = run("echo");

        assertEquals(1, result.code());
        String all = String.join("\n", result.err());
        assertTrue(all.contains("[ENV-003]") && all.contains("fake.cli 1.0.0 did not start"), all);
        assertTrue(all.contains("no.such.thing"), all);
        assertEquals(List.of(), result.out());
    }

    @Test
    void configurationIsThereBeforeTheFirstCommandAndAChangeComesOnce() throws Exception {
        Path cfg = home.resolve("etc/dev.tenon.platform.cfg");
        Files.writeString(cfg, "# comment\nbackend = one\nwhere = ${tenon.home}/x  \n");
        assertEquals(
                List.of("one " + home + "/x"),
                run("config").out().stream().map(String::strip).toList());

        Process process = start(List.of(script(), "watch"), "-Dtenon.watch.delay=0 -Dtenon.watch.poll=100");
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertEquals("ready", out.readLine());
        // The look after the one that has seen a new file begins when FileInstall has taken over all that was there.
        // Nothing has changed, so nothing is told.
        for (String pid : List.of("first", "second")) {
            Files.writeString(home.resolve("etc/" + pid + ".cfg"), "a = b\n");
            tell(process, "pid:" + pid + " there");
            assertEquals("there modified=0", out.readLine());
        }
        tell(process, "backend one");
        assertEquals("one modified=0", out.readLine());
        // At once and whole: one that is seen empty is a change of its own.
        Path draft = Files.writeString(home.resolve("etc/.draft"), "backend = second\nwhere = here\n");
        Files.move(draft, cfg, StandardCopyOption.ATOMIC_MOVE);
        tell(process, "backend second");
        assertEquals("second modified=1", out.readLine());
        Files.delete(cfg);
        tell(process, "backend null");
        assertEquals("null modified=2", out.readLine());
        process.outputWriter().close();
        assertEquals(0, finish(process).code());
    }

    @Test
    void jarDroppedWhileRunningStartsAndDeletingItTakesItAway() throws Exception {
        Process process = start(List.of(script(), "watch"), "-Dtenon.watch.delay=0 -Dtenon.watch.poll=100");
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertEquals("ready", out.readLine());
        Path jar = home.resolve("deploy/dropped.jar");
        Files.move(new FakeBundle("fake.dropped").write(home.resolve("deploy/.draft")), jar);
        tell(process, "fake.dropped active");
        assertEquals("active modified=0", out.readLine());
        Files.delete(jar);
        tell(process, "fake.dropped missing");
        assertEquals("missing modified=0", out.readLine());
        process.outputWriter().close();
        Result result = finish(process);
        assertEquals(List.of(), result.err());
        assertEquals(0, result.code());
    }

    @Test
    void jarInDeployIsThereBeforeTheFirstCommand() throws Exception {
        new FakeBundle("fake.dropped").write(home.resolve("deploy/dropped.jar"));
        new FakeBundle("fake.unresolved")
                .header("Import-Package", "no.such.thing")
                .write(home.resolve("deploy/unresolved.jar"));

        assertEquals(List.of("active"), run("bundle", "fake.dropped").out());
        Result result = run("problems");
        assertTrue(contains(result.out(), "fake.unresolved 1.0.0 did not start: ", "no.such.thing"), result::toString);
        assertTrue(contains(result.err(), "fake.unresolved", "no.such.thing"), result::toString);
    }

    @Test
    void noFileIsLeftBehindAtTheEndOrAfterATerminationSignal() throws Exception {
        run("echo");
        assertEquals(List.of(), left());

        Process process = start(List.of(script(), "watch"), "");
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertEquals("ready", out.readLine());
        assertEquals(1, left().size());
        process.destroy();
        assertTrue(process.waitFor(5, TimeUnit.MINUTES), "the process does not end");
        assertEquals(List.of(), left());
    }

    @Test
    void equinoxCanTakeTheFrameworksPlace() throws Exception {
        Path equinox = Stream.of(System.getProperty("java.class.path").split(":"))
                .map(Path::of)
                .filter(jar -> jar.getFileName().toString().startsWith("org.eclipse.osgi-"))
                .findFirst()
                .orElseThrow();
        for (Path jar : Home.files(home.resolve("lib"), ".jar")) {
            if (jar.getFileName().toString().startsWith("org.apache.felix.framework-")) {
                Files.delete(jar);
            }
        }
        Files.copy(equinox, home.resolve("lib/" + equinox.getFileName()));
        Files.writeString(home.resolve("etc/dev.tenon.platform.cfg"), "backend = one\n");

        Result result = run("config");

        assertEquals(List.of("one null"), result.out(), result::toString);
        assertEquals(List.of(), result.err());
    }

    @Test
    void underAPolicyRunsWhatWasCheckedAndNothingElse() throws Exception {
        List<String> digests = new ArrayList<>();
        for (Path folder : List.of(home.resolve("bundles/system"), home.resolve("bundles"))) {
            for (Path jar : Home.files(folder, ".jar")) {
                digests.add(SignedJar.read(jar).sha256());
            }
        }
        Files.write(home.resolve("etc/trusted-bundles.txt"), digests);
        Files.writeString(home.resolve("etc/dev.tenon.platform.bundles.cfg"), "bundles.trust = listed\n");
        FakeBundle unlisted = new FakeBundle("fake.dropped");
        unlisted.write(home.resolve("deploy/dropped.jar"));
        assertEquals(List.of("inactive"), run("bundle", "fake.dropped").out());

        Path jar = home.resolve("bundles/fake-cli.jar");
        byte[] other = Files.readAllBytes(new FakeBundle("fake.other").write(folder.resolve("other.jar")));
        Process running = start(List.of(script(), "late"), "");
        assertEquals("ready", running.inputReader(StandardCharsets.UTF_8).readLine());
        Files.write(jar, other); // in place: whoever reads the file itself reads this
        tell(running, "go on");
        assertEquals(List.of("what was checked"), finish(running).out());

        Result refused = run("echo", "x");
        assertEquals(1, refused.code());
        assertEquals(List.of(), refused.out());
        assertTrue(contains(refused.err(), "fake-cli.jar", "BUNDLE-005"), refused.err()::toString);
        assertTrue(contains(refused.err(), "sha256sum bundles", "etc/trusted-bundles.txt"), refused.err()::toString);
    }

    /// The start-up cache holds code.
    @Test
    void aCacheFolderThatOthersMayWriteIsNotTaken() throws Exception {
        Path shared = Files.createDirectories(home.resolve("cache"));
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.writeString(shared.resolve("bundles.options"), "-Dplanted=yes\n");
        Path own = folder.resolve("own");
        Result with = finish(start(List.of(script(), "options"), "", "XDG_CACHE_HOME=" + own));
        assertFalse(with.out().contains("-Dplanted=yes"), with::toString);
        String cache = "-Dtenon.cache=" + own + "/tenon/";
        assertTrue(with.out().stream().anyMatch(o -> o.startsWith(cache)), with::toString);
        try (Stream<Path> made = Files.list(own.resolve("tenon"))) {
            assertEquals(
                    Set.of(OWNER_READ, OWNER_WRITE, OWNER_EXECUTE),
                    Files.getPosixFilePermissions(made.findFirst().orElseThrow()));
        }
        Result none = finish(start(List.of(script(), "options"), "", "XDG_CACHE_HOME=", "HOME="));
        assertTrue(none.out().contains("-Dtenon.cache="), none::toString);
        assertFalse(none.out().contains("-Dplanted=yes"), none::toString);
    }

    @Test
    void limitsOfTheHeapOverrideThoseOfTheScript() throws Exception {
        for (String limit : List.of("-Xmx64m", "-XX:MaxHeapSize=64m")) {
            for (String variable : List.of("TENON_JAVA_OPTS", "JDK_JAVA_OPTIONS")) {
                Result result = finish(start(List.of(script(), "echo", "x"), "", variable + "=" + limit));
                assertEquals(List.of("echo|x"), result.out(), result::toString);
            }
        }
        Result wrong = finish(start(List.of(script(), "echo", "x"), "", "TENON_JAVA_OPTS=-Xmx64m -Xms65m"));
        assertEquals(List.of(), wrong.out(), "what the JVM says goes to standard error");
        assertTrue(contains(wrong.err(), "heap"), wrong::toString);
    }

    /// @param limit set by the shell that starts the script
    private Result limited(String limit) throws Exception {
        return finish(start(List.of("sh", "-c", limit + " && exec \"$0\" echo x", script()), "", "TENON_AOT=off"));
    }

    @Test
    void aLimitThatIsTooLowIsNamedInOneLine() throws Exception {
        assertEquals(List.of("echo|x"), limited("ulimit -v 3000000").out());
        assertEquals(List.of("echo|x"), limited("ulimit -n 256").out());
        for (String limit : List.of("ulimit -v 900000", "ulimit -n 32")) {
            Result result = limited(limit);
            assertEquals(1, result.code(), result::toString);
            assertEquals(List.of(), result.out());
            assertEquals(1, result.err().size(), result::toString);
            assertTrue(contains(result.err(), limit.substring(0, 9), "[ENV-004]"), result::toString);
        }
    }

    @Test
    void theHomeFolderIsThatOfTheEnvironment() throws Exception {
        String passwd = System.getProperty("user.home");
        for (String[] each : new String[][] {{folder.toString(), folder.toString()}, {"", passwd}, {"a", passwd}}) {
            Result result = finish(start(List.of(script(), "home"), "", "HOME=" + each[0]));
            assertEquals(List.of(each[1]), result.out(), result::toString);
        }
    }

    /// A file that is opened later must not take the place of a closed stream.
    @Test
    void closedStreamsStayClosed() throws Exception {
        Path tmp = folder.resolve("streams");
        List<String> shell = List.of("sh", "-c", "\"$0\" streams <&- >&- 2>&-; echo $?", script());
        Result result = finish(start(shell, "", "TENON_TEST_FILE=" + tmp));
        assertEquals(List.of("0"), result.out(), result::toString);
        assertEquals("/dev/null /dev/null /dev/null", Files.readString(tmp));
    }

    @Test
    void argumentsAreUtf8WhateverTheLocaleIs() throws Exception {
        Path umlaut = folder.resolve("Größe");
        copy(home, umlaut);
        String script = umlaut.resolve("bin/tenon").toString();
        for (String locale : List.of("C", "POSIX", "xx_XX.UTF-8", "de_DE.ISO-8859-1", "C.UTF-8")) {
            Result result = finish(start(List.of(script, "echo", "Größe €"), "", "LC_ALL=" + locale));
            assertEquals(List.of("echo|Größe €"), result.out(), locale);
            assertEquals(List.of(), result.err(), locale);
        }
    }
}
