package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// A copy of the distribution whose script is run as a process.
///
/// @param home its folder
/// @param environment variables of the script, beside what it needs
record Installation(Path home, Map<String, String> environment) {
    private static Path startCache;

    /// What a process gave.
    record Result(int code, String out, String err) {}

    /// Copies the distribution; skips the test where the script cannot run.
    static Installation copy(Path folder) throws IOException {
        assumeTrue(
                FileSystems.getDefault().supportedFileAttributeViews().contains("posix"),
                "the start script needs a POSIX system");
        Path home = folder.resolve("tenon");
        Path built = Jars.distribution();
        for (String part : List.of("bin", "lib", "bundles", "etc", "deploy", "models")) {
            try (Stream<Path> files = Files.walk(built.resolve(part))) {
                for (Path file : files.toList()) {
                    Path target = home.resolve(built.relativize(file));
                    Files.createDirectories(target.getParent());
                    Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
        return new Installation(home, Map.of());
    }

    /// The same installation, run with another variable.
    Installation with(String name, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(name, value);
        return new Installation(home, more);
    }

    /// {@return the JVM's option for the cache that shortens a start, which users have, too: made once, for all copies}
    static synchronized String startCache() throws IOException {
        if (startCache == null) {
            Path home = Jars.distribution();
            ProcessBuilder maker = new ProcessBuilder(home.resolve("bin/tenon").toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD);
            clean(maker.environment(), "make");
            try {
                int status = maker.start().waitFor();
                assertEquals(0, status, () -> "no start-up cache: " + home.resolve("cache/aot.log"));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            startCache = home.resolve("cache/tenon.aot");
        }
        return "-XX:AOTCache=" + startCache;
    }

    private static void clean(Map<String, String> variables, String cache) {
        variables.keySet().removeIf(name -> name.startsWith("TENON_"));
        variables.put("TENON_JAVA_HOME", System.getProperty("java.home"));
        variables.put("TENON_AOT", cache);
    }

    Process start(Path err, String... args) throws IOException {
        return startIn(err, "exec \"$0\" \"$@\"", Arrays.asList(args));
    }

    /// Starts a command in a shell.
    ///
    /// @param err where standard error goes
    /// @param shell what the shell runs; `"$0" "$@"` is the command
    /// @param args arguments of the command
    Process startIn(Path err, String shell, List<String> args) throws IOException {
        List<String> command = new ArrayList<>(
                List.of("sh", "-c", shell, home.resolve("bin/tenon").toString()));
        command.addAll(args);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
        clean(builder.environment(), "off");
        builder.environment().put("TENON_JAVA_OPTS", startCache());
        builder.environment().put("TENON_LOG", "info");
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().putAll(environment);
        return builder.start();
    }

    /// Runs a command to its end, ten minutes at most.
    Result tenon(String... args) throws Exception {
        Path err = Files.createTempFile(home.getParent(), "err", ".txt");
        Process process = start(err, args);
        try (Deadline deadline = new Deadline(process, Duration.ofMinutes(10))) {
            process.outputWriter().close();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(deadline.await(), out, Files.readString(err));
        }
    }
}
