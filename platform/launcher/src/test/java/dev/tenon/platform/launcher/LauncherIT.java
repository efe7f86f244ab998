package dev.tenon.platform.launcher;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.trust.SignedJar;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs the distribution's script as a process, with a made-up command line in place of Tenon's bundles.
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class LauncherIT {
    private static final String INCUBATOR = "WARNING: Using incubator modules: jdk.incubator.vector";

    private static final String CLI = """
            package fake;
            import java.util.*;
            import dev.tenon.platform.boot.*;
            import org.osgi.framework.*;
            public class Cli implements EntryPoint {
                private static final org.slf4j.Logger LOG = org.slf4j.LoggerFactory.getLogger(Cli.class);
                private volatile Map<String, Object> config;
                private volatile int modified;
                public void activate(Map<String, Object> c) { config = c; }
                public void modified(Map<String, Object> c) { modified++; config = c; }
                public int run(String... args) {
                    try { return execute(args); } catch (RuntimeException e) { throw e; }
                    catch (Exception e) { throw new IllegalStateException(e); }
                }
                private int execute(String[] args) throws Exception {
                    BundleContext context = FrameworkUtil.getBundle(Cli.class).getBundleContext();
                    switch (args[0]) {
                        case "echo" -> System.out.println(String.join("|", args));
                        case "exit" -> { return Integer.parseInt(args[1]); }
                        case "throw" -> throw new IllegalStateException("boom");
                        case "config" -> System.out.println(config.get("backend") + " " + config.get("where"));
                        case "log" -> { LOG.warn("one {}", 1); LOG.debug("two"); }
                        case "vector" -> Class.forName("jdk.incubator.vector.FloatVector");
                        case "options" -> java.lang.management.ManagementFactory.getRuntimeMXBean()
                                .getInputArguments().forEach(System.out::println);
                        case "loader" -> System.out.println(
                                Thread.currentThread().getContextClassLoader() == Cli.class.getClassLoader());
                        case "problems" -> {
                            var found = context.getServiceReferences(BundleProblems.class, null);
                            context.getService(found.iterator().next()).lines().forEach(System.out::println);
                        }
                        case "bundle" -> System.out.println(state(context, args[1]));
                        case "late" -> {
                            System.out.println("ready");
                            new Scanner(System.in).nextLine();
                            System.out.println(new Late());
                        }
                        case "watch" -> {
                            System.out.println("ready");
                            var in = new Scanner(System.in);
                            while (in.hasNextLine()) {
                                String[] wanted = in.nextLine().split(" ");
                                for (int i = 0; i < 20_000 && !now(context, wanted[0]).equals(wanted[1]); i++) {
                                    Thread.sleep(25);
                                }
                                System.out.println(now(context, wanted[0]) + " modified=" + modified);
                            }
                        }
                        default -> { return 2; }
                    }
                    return 0;
                }
                static class Late {
                    @Override
                    public String toString() { return "what was checked"; }
                }
                private String now(BundleContext context, String what) {
                    return what.equals("backend") ? String.valueOf(config.get(what)) : state(context, what);
                }
                private static String state(BundleContext context, String name) {
                    for (Bundle bundle : context.getBundles()) {
                        if (name.equals(bundle.getSymbolicName())) {
                            return bundle.getState() == Bundle.ACTIVE ? "active" : "inactive";
                        }
                    }
                    return "missing";
                }
            }
            """;

    private static final String COMPONENT = """
            <?xml version="1.0" encoding="UTF-8"?>
            <scr:component xmlns:scr="http://www.osgi.org/xmlns/scr/v1.3.0" name="fake.cli"
                configuration-pid="dev.tenon.platform" activate="activate" modified="modified">
              <implementation class="fake.Cli"/>
              <service><provide interface="dev.tenon.platform.boot.EntryPoint"/></service>
            </scr:component>
            """;

    private static final String BROKEN_ACTIVATOR = """
            package fake;
            public class Broken implements org.osgi.framework.BundleActivator {
                public void start(org.osgi.framework.BundleContext c) { throw new IllegalStateException("no driver"); }
                public void stop(org.osgi.framework.BundleContext c) {}
            }
            """;

    private static final String KERNEL = "dev.tenon.api.kernel.cpu.Kernel";
    private static final String KERNEL_SOURCE = """
            package dev.tenon.api.kernel.cpu;
            @interface ForceInline {}
            class Kernel { @ForceInline void part() {} }
            """;

    @TempDir
    Path folder;

    private Path home;
    private Path temporary;

    private record Result(int code, List<String> out, List<String> err) {
        /// Standard error without the JVM's own line.
        List<String> messages() {
            return err.stream().filter(line -> !line.equals(INCUBATOR)).toList();
        }
    }

    @BeforeEach
    void copyDistribution() throws IOException {
        Path built = Path.of(System.getProperty("tenon.test.home"));
        assertTrue(Files.isDirectory(built), () -> "The build has made no distribution at " + built);
        home = folder.resolve("a place+more/tenon");
        for (String part : List.of("bin", "lib", "bundles/system")) {
            copy(built.resolve(part), home.resolve(part));
        }
        Files.createDirectories(home.resolve("deploy"));
        Files.createDirectories(home.resolve("etc"));
        temporary = Files.createDirectory(folder.resolve("temporary"));
        cliBundle().write(home.resolve("bundles/fake-cli.jar"));
    }

    @Test
    void argumentsAndExitCodePassThroughAndStandardOutputHoldsTheAnswerOnly() throws Exception {
        Result echo = run("echo", "a b", "", "*", "ü", "$x");
        assertEquals(List.of("echo|a b||*|ü|$x"), echo.out);
        assertEquals(List.of(), echo.messages());
        assertEquals(0, echo.code);

        assertEquals(7, run("exit", "7").code);
    }

    @Test
    void startsThroughASymbolicLinkFromAnyFolder() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), home.resolve("bin/tenon"));

        Result result = finish(start(List.of(link.toString(), "echo", "x"), ""));

        assertEquals(List.of("echo|x"), result.out);
    }

    @Test
    void unexpectedExceptionIsOneLineAndEndsTheProcess() throws Exception {
        Result result = run("throw");

        assertEquals(1, result.code);
        assertEquals(
                List.of("tenon: unexpected java.lang.IllegalStateException: boom"
                        + " (TENON_LOG=debug shows the stack trace)"),
                result.messages());
        assertEquals(List.of(), result.out);
    }

    @Test
    void logGoesToStandardErrorFromWarningsUp() throws Exception {
        Result result = run("log");

        assertEquals(List.of("WARN Cli - one 1"), result.messages());
        assertEquals(List.of(), result.out);
    }

    @Test
    void vectorModuleAndTheBundlesClassLoaderAreThere() throws Exception {
        assertEquals(List.of("true"), run("loader").out);
        assertEquals(0, run("vector").code);
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

        assertEquals(0, result.code);
        assertEquals(3, result.out.size(), result::toString);
        assertTrue(result.out.get(0).startsWith("bundles/aaa-text.jar was not installed: "), result::toString);
        assertTrue(contains(result.out, "fake.unresolved 1.0.0 did not start: ", "no.such.thing"), result::toString);
        assertTrue(contains(result.out, "fake.broken 1.0.0 did not start: ", "no driver"), result::toString);
        assertEquals(3, result.messages().size(), result::toString);
        assertTrue(result.messages().stream().allMatch(line -> line.startsWith("WARN Platform - ")), result::toString);
    }

    @Test
    void missingCommandLineNamesWhatFailed() throws Exception {
        Files.delete(home.resolve("bundles/fake-cli.jar"));
        cliBundle()
                .header("Import-Package", "org.osgi.framework,org.slf4j,no.such.thing")
                .write(home.resolve("bundles/fake-cli.jar"));

        Result result = run("echo");

        assertEquals(1, result.code);
        String all = String.join("\n", result.messages());
        assertTrue(all.contains("[ENV-003]") && all.contains("fake.cli 1.0.0 did not start"), all);
        assertTrue(all.contains("no.such.thing"), all);
        assertEquals(List.of(), result.out);
    }

    @Test
    void configurationIsThereBeforeTheFirstCommandAndAChangeComesOnce() throws Exception {
        Path cfg = home.resolve("etc/dev.tenon.platform.cfg");
        Files.writeString(cfg, "# comment\nbackend = one\nwhere = ${tenon.home}/x  \n");
        assertEquals(
                List.of("one " + home + "/x"),
                run("config").out.stream().map(String::strip).toList());

        Process process = start(List.of(script(), "watch"), "-Dtenon.watch.delay=0 -Dtenon.watch.poll=100");
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertEquals("ready", out.readLine());
        Thread.sleep(1500); // FileInstall takes the file over meanwhile; nothing has changed, so nothing is told
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
        assertEquals(0, finish(process).code);
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
        assertEquals(List.of(), result.messages());
        assertEquals(0, result.code);
    }

    @Test
    void jarInDeployIsThereBeforeTheFirstCommand() throws Exception {
        new FakeBundle("fake.dropped").write(home.resolve("deploy/dropped.jar"));
        new FakeBundle("fake.unresolved")
                .header("Import-Package", "no.such.thing")
                .write(home.resolve("deploy/unresolved.jar"));

        assertEquals(List.of("active"), run("bundle", "fake.dropped").out);
        Result result = run("problems");
        assertTrue(contains(result.out, "fake.unresolved 1.0.0 did not start: ", "no.such.thing"), result::toString);
        assertTrue(contains(result.messages(), "fake.unresolved", "no.such.thing"), result::toString);
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

        assertEquals(List.of("one null"), result.out, result::toString);
        assertEquals(List.of(), result.messages());
    }

    @Test
    void startUpCacheIsMadeUsedAndMadeAgainWhenAJarChanges() throws Exception {
        Files.writeString(home.resolve("bin/aot-training"), "# comment\nexit 3\necho trained\n");
        Path cache = home.resolve("cache/tenon.aot");
        Path making = Files.createDirectories(cache.getParent()).resolve("making");
        try (FileChannel other = FileChannel.open(making, CREATE, WRITE)) {
            FileLock lock = other.lock();
            assertEquals(1, finish(start(List.of(script()), "", "TENON_AOT=make")).code, "another process makes it");
            lock.release();
        }
        assertFalse(Files.exists(cache));
        new FakeBundle("fake.kernels").type(KERNEL, KERNEL_SOURCE).write(home.resolve("deploy/kernels.jar"));
        assertEquals(0, finish(start(List.of(script()), "", "TENON_AOT=make")).code);
        assertTrue(Files.size(cache) > 1_000_000);
        List<String> classes = Files.readAllLines(home.resolve("cache/classes"));
        assertEquals("echo", classes.getFirst());
        assertTrue(classes.stream().anyMatch(line -> line.startsWith("fake-cli.jar ")), classes::toString);
        var made = Files.getLastModifiedTime(cache);

        Result used = finish(start(List.of(script(), "echo", "x"), "", "TENON_AOT="));
        assertEquals(List.of("echo|x"), used.out);
        assertEquals(List.of(), used.messages());
        assertEquals(made, Files.getLastModifiedTime(cache));
        List<String> options = finish(start(List.of(script(), "options"), "", "TENON_AOT=")).out;
        assertTrue(options.contains("-XX:CompileCommand=inline," + KERNEL + "::part"), options::toString);
        Result vector = finish(start(List.of(script(), "vector"), "", "TENON_AOT="));
        assertEquals(0, vector.code, vector::toString);
        assertFalse(vector.err.contains(INCUBATOR), "with a cache, the launcher loads the module");

        Path jar = home.resolve("bundles/fake-cli.jar");
        var date = Files.getLastModifiedTime(jar);
        Files.delete(jar);
        cliBundle().header("Bundle-Name", "changed").write(jar);
        Files.setLastModifiedTime(jar, date); // a stale cache must be noticed even though the date says nothing
        assertEquals(List.of("echo|x"), finish(start(List.of(script(), "echo", "x"), "", "TENON_AOT=")).out);
        // In the background with the least priority: that may take a while beside others.
        for (int i = 0; i < 12_000 && made.equals(Files.getLastModifiedTime(cache)); i++) {
            Thread.sleep(100);
        }
        assertFalse(made.equals(Files.getLastModifiedTime(cache)));
        try (FileChannel other = FileChannel.open(making, WRITE)) {
            other.lock(); // the process that makes it has ended
        }
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
        assertEquals(List.of("inactive"), run("bundle", "fake.dropped").out);

        Path jar = home.resolve("bundles/fake-cli.jar");
        byte[] other = Files.readAllBytes(new FakeBundle("fake.other").write(folder.resolve("other.jar")));
        Process running = start(List.of(script(), "late"), "");
        assertEquals("ready", running.inputReader(StandardCharsets.UTF_8).readLine());
        Files.write(jar, other); // in place: whoever reads the file itself reads this
        tell(running, "go on");
        assertEquals(List.of("what was checked"), finish(running).out);

        Result refused = run("echo", "x");
        assertEquals(1, refused.code);
        assertEquals(List.of(), refused.out);
        assertTrue(contains(refused.err, "fake-cli.jar", "BUNDLE-005"), refused.err::toString);
        assertTrue(contains(refused.err, "tenon bundles trust --installed"), refused.err::toString);
    }

    private static FakeBundle cliBundle() {
        return new FakeBundle("fake.cli")
                .header(
                        "Import-Package",
                        "dev.tenon.platform.boot,jdk.incubator.vector,org.osgi.framework,org.slf4j;version=\"[2.0,3)\"")
                .type("fake.Cli", CLI)
                .component(COMPONENT);
    }

    private static boolean contains(List<String> lines, String... parts) {
        return lines.stream().anyMatch(line -> Stream.of(parts).allMatch(line::contains));
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.filter(file -> !file.getFileName().toString().startsWith("hsperfdata"))
                    .toList();
        }
    }

    private String script() {
        return home.resolve("bin/tenon").toString();
    }

    private Result run(String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of(script()));
        command.addAll(List.of(args));
        return finish(start(command, ""));
    }

    private Process start(List<String> command, String options, String... environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(folder.toFile());
        builder.redirectError(folder.resolve("stderr").toFile());
        var variables = builder.environment();
        variables.keySet().removeIf(name -> name.startsWith("TENON_"));
        variables.put("TENON_JAVA_HOME", System.getProperty("java.home"));
        variables.put("TENON_AOT", "off");
        variables.put("LC_ALL", "C.UTF-8");
        for (String variable : environment) {
            variables.put(variable.substring(0, variable.indexOf('=')), variable.substring(variable.indexOf('=') + 1));
        }
        if (environment.length == 0) {
            variables.put("TENON_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary + " " + options);
        }
        return builder.start();
    }

    private Result finish(Process process) throws Exception {
        List<String> out = process.inputReader(StandardCharsets.UTF_8).lines().toList();
        assertTrue(process.waitFor(10, TimeUnit.MINUTES), "the process does not end");
        return new Result(process.exitValue(), out, Files.readAllLines(folder.resolve("stderr")));
    }

    private static void tell(Process process, String line) throws IOException {
        process.outputWriter().write(line + "\n");
        process.outputWriter().flush();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file));
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.createDirectories(target.getParent());
                    Files.copy(file, target);
                    target.toFile().setExecutable(Files.isExecutable(file));
                }
            }
        }
    }
}
