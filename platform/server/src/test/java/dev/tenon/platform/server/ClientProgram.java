package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// A program that uses the server, in a folder of its own, with the packages that it needs.
///
/// @param folder where it lies
record ClientProgram(Path folder) {
    private static final int MINUTES = 20;

    /// Copies files and installs the packages of npm that they need; skips the test where that cannot be done.
    ///
    /// @param source folder of the files
    /// @param files their names, `package.json` among them
    void install(Path source, String... files) throws Exception {
        for (String file : files) {
            Files.copy(source.resolve(file), folder.resolve(file));
        }
        assumeTrue(
                run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts") == 0,
                "Skipped: npm is missing, or cannot install the packages.");
    }

    /// Installs packages of npm; skips the test where that cannot be done.
    ///
    /// @param packages with their versions; and options
    void install(List<String> packages) throws Exception {
        Files.writeString(folder.resolve("package.json"), "{\"private\": true}");
        List<String> line = new ArrayList<>(List.of("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"));
        line.addAll(packages);
        assumeTrue(
                run(line.toArray(String[]::new)) == 0,
                () -> "Skipped: npm is missing, or cannot install " + packages + ".");
    }

    /// {@return the exit status; -1 if the program is not there, or takes too long}
    int run(String... line) throws InterruptedException {
        return run(new ProcessBuilder(line).directory(folder.toFile()));
    }

    /// Runs a program of an installed package, which finds no settings but those given and those in the folder `home`.
    ///
    /// @param work the folder in which it runs
    /// @param settings its environment
    /// @param line path of the program among the packages, and its arguments
    /// @return as above
    int runNode(Path work, Map<String, String> settings, List<String> line) throws Exception {
        List<String> whole = new ArrayList<>(line);
        whole.set(0, folder.resolve("node_modules").resolve(line.getFirst()).toString());
        whole.addFirst("node");
        ProcessBuilder process = new ProcessBuilder(whole)
                .directory(work.toFile())
                .redirectInput(Files.createFile(folder.resolve("input")).toFile());
        String path = System.getenv("PATH");
        process.environment().clear();
        process.environment().putAll(settings);
        process.environment().put("PATH", path);
        process.environment()
                .put("HOME", Files.createDirectories(folder.resolve("home")).toString());
        return run(process);
    }

    private int run(ProcessBuilder program) throws InterruptedException {
        try {
            Process process = program.redirectErrorStream(true)
                    .redirectOutput(folder.resolve("output").toFile())
                    .start();
            if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly().waitFor();
                return -1;
            }
            return process.exitValue();
        } catch (IOException e) {
            return -1; // no such program
        }
    }

    /// {@return what the last program wrote}
    String output() {
        try {
            return Files.readString(folder.resolve("output"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
