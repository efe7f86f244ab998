package dev.tenon.itest.framework;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs a program in a JVM of its own.
final class ChildJvm {
    /// How it ended.
    ///
    /// @param exitStatus exit status
    /// @param output standard output and error, mixed
    record Result(int exitStatus, String output) {
        /// {@return the lines of the output that start with a word, without it}
        List<String> lines(String word) {
            return output.lines()
                    .filter(line -> line.startsWith(word + " "))
                    .map(line -> line.substring(word.length() + 1))
                    .toList();
        }
    }

    private ChildJvm() {}

    /// {@return the class path of the tests}
    static String testClassPath() {
        String surefire = System.getProperty("surefire.test.class.path");
        return surefire != null ? surefire : System.getProperty("java.class.path");
    }

    /// {@return the folder of the compiled tests}
    static Path testClasses() {
        try {
            return Path.of(ChildJvm.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (java.net.URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /// Runs a main class from a class path.
    static Result run(String classPath, List<String> jvmOptions, String main, String... arguments) throws Exception {
        List<String> options = new ArrayList<>(jvmOptions);
        options.addAll(List.of("-cp", classPath, main));
        options.addAll(List.of(arguments));
        return java(options);
    }

    /// Runs the `java` of this JVM with options, at most ten minutes.
    static Result java(List<String> options) throws IOException, InterruptedException {
        return java(Path.of(System.getProperty("java.home")), options);
    }

    /// Runs the `java` of a runtime with options, at most ten minutes.
    static Result java(Path home, List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(home.resolve("bin/java").toString());
        command.add("-Xmx512m");
        command.addAll(options);
        Path output = Files.createTempFile("child", ".txt");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(10, TimeUnit.MINUTES)) {
                process.destroyForcibly().waitFor();
                throw new AssertionError("still running after ten minutes: " + command + "\n"
                        + Files.readString(output, StandardCharsets.UTF_8));
            }
            return new Result(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            Files.deleteIfExists(output);
        }
    }
}
