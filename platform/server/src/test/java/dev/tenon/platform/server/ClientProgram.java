package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    /// {@return the exit status; -1 if the program is not there, or takes too long}
    int run(String... line) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(List.of(line))
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
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
