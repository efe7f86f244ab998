package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A copy of the distribution whose script is run as a process, with a made-up command line in place of Tenon's
/// bundles.
@Timeout(value = 30, unit = TimeUnit.MINUTES)
abstract class LauncherHome {
    static final String CLI = """
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
                        case "answer" -> {
                            String text = String.format("answered by %d%n", ProcessHandle.current().pid());
                            ServiceReference<Answers> answers = context.getServiceReference(Answers.class);
                            if (answers != null) {
                                context.getService(answers).keep(3, text);
                            }
                            System.out.print(text);
                            if (System.out.checkError()) {
                                System.err.println("the command line was asked");
                            }
                            return 3;
                        }
                        case "exit" -> { return Integer.parseInt(args[1]); }
                        case "throw" -> throw new IllegalStateException("boom");
                        case "config" -> System.out.println(config.get("backend") + " " + config.get("where"));
                        case "log" -> { LOG.warn("one {}", 1); LOG.debug("two"); }
                        case "text" -> {
                            System.out.print("the princess was");
                            LOG.warn("one");
                            LOG.warn("two");
                            System.out.println(" in the garden");
                            LOG.warn("three");
                        }
                        case "vector" -> Class.forName("jdk.incubator.vector.FloatVector");
                        case "options" -> java.lang.management.ManagementFactory.getRuntimeMXBean()
                                .getInputArguments().forEach(System.out::println);
                        case "loader" -> System.out.println(
                                Thread.currentThread().getContextClassLoader() == Cli.class.getClassLoader());
                        case "problems" -> {
                            var found = context.getServiceReferences(BundleProblems.class, null);
                            context.getService(found.iterator().next()).lines().forEach(System.out::println);
                        }
                        case "home" -> System.out.println(System.getProperty("user.home"));
                        case "streams" -> {
                            var links = new StringBuilder();
                            for (int fd = 0; fd < 3; fd++) {
                                links.append(fd == 0 ? "" : " ").append(
                                        java.nio.file.Files.readSymbolicLink(java.nio.file.Path.of("/proc/self/fd/" + fd)));
                            }
                            java.nio.file.Files.writeString(
                                    java.nio.file.Path.of(System.getenv("TENON_TEST_FILE")), links);
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
                private String now(BundleContext context, String what) throws Exception {
                    if (what.startsWith("pid:")) {
                        Object admin = context.getService(
                                context.getServiceReference("org.osgi.service.cm.ConfigurationAdmin"));
                        Object found = admin.getClass().getMethod("listConfigurations", String.class)
                                .invoke(admin, "(service.pid=" + what.substring(4) + ")");
                        return found == null ? "missing" : "there";
                    }
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

    static final String COMPONENT = """
            <?xml version="1.0" encoding="UTF-8"?>
            <scr:component xmlns:scr="http://www.osgi.org/xmlns/scr/v1.3.0" name="fake.cli"
                configuration-pid="dev.tenon.platform" activate="activate" modified="modified">
              <implementation class="fake.Cli"/>
              <service><provide interface="dev.tenon.platform.boot.EntryPoint"/></service>
            </scr:component>
            """;

    @TempDir
    Path folder;

    Path home;
    Path temporary;

    record Result(int code, List<String> out, List<String> err) {}

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

    static FakeBundle cliBundle() {
        return new FakeBundle("fake.cli")
                .header(
                        "Import-Package",
                        "dev.tenon.platform.boot,jdk.incubator.vector,org.osgi.framework,org.slf4j;version=\"[2.0,3)\"")
                .type("fake.Cli", CLI)
                .component(COMPONENT);
    }

    static boolean contains(List<String> lines, String... parts) {
        return lines.stream().anyMatch(line -> Stream.of(parts).allMatch(line::contains));
    }

    List<Path> left() throws IOException {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.filter(file -> !file.getFileName().toString().startsWith("hsperfdata"))
                    .toList();
        }
    }

    String script() {
        return home.resolve("bin/tenon").toString();
    }

    Result run(String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of(script()));
        command.addAll(List.of(args));
        return finish(start(command, ""));
    }

    Process start(List<String> command, String options, String... environment) throws IOException {
        return prepared(command, options, environment).start();
    }

    ProcessBuilder prepared(List<String> command, String options, String... environment) {
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
        return builder;
    }

    Result finish(Process process) throws Exception {
        List<String> out = process.inputReader(StandardCharsets.UTF_8).lines().toList();
        assertTrue(process.waitFor(10, TimeUnit.MINUTES), "the process does not end");
        return new Result(process.exitValue(), out, Files.readAllLines(folder.resolve("stderr")));
    }

    static void tell(Process process, String line) throws IOException {
        process.outputWriter().write(line + "\n");
        process.outputWriter().flush();
    }

    static void copy(Path from, Path to) throws IOException {
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
