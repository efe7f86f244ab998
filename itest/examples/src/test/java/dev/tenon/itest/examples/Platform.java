package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// A copy of the finished distribution in a folder of its own, with the `probe` command dropped in.
final class Platform {
    static final Path DISTRIBUTION = Path.of(System.getProperty("tenon.distribution"));
    private static final long PATIENCE_SECONDS = 600;

    private final Path home;
    private final Path errors;

    /// Copies the distribution.
    ///
    /// @param folder empty; receives the copy
    Platform(Path folder) throws IOException {
        home = folder.resolve("tenon");
        errors = folder.resolve("stderr.txt");
        try (Stream<Path> files = Files.walk(DISTRIBUTION)) {
            for (Path file : files.toList()) {
                Path target = home.resolve(DISTRIBUTION.relativize(file).toString());
                boolean skipped = file.startsWith(DISTRIBUTION.resolve("cache"))
                        || file.toString().endsWith(".gguf");
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else if (!skipped) {
                    Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
        Path probe = Path.of(System.getProperty("tenon.probe"));
        Files.copy(probe, home.resolve("deploy/probe.jar"));
    }

    /// {@return the jar that an example's own build made}
    ///
    /// @param example folder of the example
    static Path jar(String example) throws IOException {
        Path target = Path.of(System.getProperty("tenon.examples"), example, "target");
        try (Stream<Path> files = Files.list(target)) {
            List<Path> jars =
                    files.filter(file -> file.toString().endsWith(".jar")).toList();
            assertEquals(1, jars.size(), "jars in " + target);
            return jars.getFirst();
        }
    }

    /// Puts a jar into `deploy/`: under a hidden name first, so that it is there at once and whole.
    void drop(Path jar) throws IOException {
        Path hidden = Files.copy(jar, home.resolve("deploy/." + jar.getFileName()));
        Files.move(hidden, home.resolve("deploy").resolve(jar.getFileName()));
    }

    /// Takes a jar out of `deploy/`.
    void take(Path jar) throws IOException {
        Files.delete(home.resolve("deploy").resolve(jar.getFileName()));
    }

    /// Writes a bundle's configuration.
    void configure(String pid, String line) throws IOException {
        Files.writeString(home.resolve("etc/" + pid + ".cfg"), line + "\n");
    }

    /// Runs a command to its end, which has to be a good one.
    ///
    /// @return the lines of standard output
    List<String> run(String... arguments) throws Exception {
        Ended ended = end(arguments);
        assertEquals(0, ended.status(), () -> String.join("\n", ended.lines()) + "\n" + errors());
        return ended.lines();
    }

    /// How a command ended.
    ///
    /// @param status its exit status
    /// @param lines the lines of standard output
    record Ended(int status, List<String> lines) {}

    /// Runs a command to its end.
    Ended end(String... arguments) throws Exception {
        return end(Path.of(""), Map.of(), arguments);
    }

    /// Runs a command to its end.
    ///
    /// @param work the working directory
    /// @param variables of the environment, besides those that there are
    Ended end(Path work, Map<String, String> variables, String... arguments) throws Exception {
        Process process = start(work, variables, arguments);
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            process.outputWriter().close();
            List<String> lines = out.lines().toList();
            assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "still running");
            return new Ended(process.exitValue(), lines);
        } finally {
            process.destroyForcibly();
        }
    }

    /// Starts a command.
    ///
    /// @param work the working directory
    /// @param more variables of the environment, besides those that there are
    Process start(Path work, Map<String, String> more, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(home.resolve("bin/tenon").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(work.toAbsolutePath().toFile());
        builder.redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
        var variables = builder.environment();
        variables.keySet().removeIf(name -> name.startsWith("TENON_"));
        variables.put("TENON_JAVA_HOME", System.getProperty("java.home"));
        variables.put("TENON_AOT", "off");
        // Float arithmetic, as the golden logits have it; and folders are looked at ten times a second.
        variables.put("TENON_JAVA_OPTS", "-Dtenon.kernels.x86=off -Dtenon.watch.delay=0 -Dtenon.watch.poll=100");
        variables.putAll(more);
        return builder.start();
    }

    /// {@return what all commands so far wrote to standard error}
    String errors() {
        try {
            return Files.readString(errors);
        } catch (IOException e) {
            return "standard error cannot be read: " + e;
        }
    }

    /// A platform that keeps running while jars come and go.
    final class Running implements AutoCloseable {
        private final Process process = start(Path.of(""), Map.of(), "probe");
        private final BufferedReader out = process.inputReader(StandardCharsets.UTF_8);

        /// Starts the process and waits until it listens.
        Running() throws IOException {
            assertEquals("ready", out.readLine(), Platform.this::errors);
        }

        /// {@return number of the process}
        long pid() {
            return process.pid();
        }

        /// {@return what the probe says to a line}
        String ask(String line) throws IOException {
            process.outputWriter().write(line + "\n");
            process.outputWriter().flush();
            String answer = out.readLine();
            assertTrue(answer != null, () -> "the platform has ended\n" + errors());
            return answer;
        }

        /// Asks until the answer is as expected, while a bundle comes or goes.
        ///
        /// @return that answer
        String askUntil(String line, Predicate<String> expected) throws Exception {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (true) {
                String answer = ask(line);
                if (expected.test(answer)) {
                    return answer;
                }
                assertTrue(System.nanoTime() < end, () -> "still: " + answer + "\n" + errors());
                Thread.sleep(100);
            }
        }

        /// Ends the platform, which has to end well.
        @Override
        public void close() throws IOException {
            try {
                process.outputWriter().close();
                assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "still running");
                assertEquals(0, process.exitValue(), Platform.this::errors);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while the platform was ending", e);
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
