package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The benchmark suite in an installation: what signals in the middle leave, other suites
/// meanwhile, the rest afterwards; what becomes of it when a program dies, without disk and without the story model.
///
/// Long: several programs measure, however little. What becomes of programs that fail or hang is
/// tested without processes (`SuiteTests` of `platform/bench`).
@Tag("long")
class SuiteIT {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    @TempDir
    Path folder;

    /// Of which no other one on this machine holds the lock of measurements.
    private Installation installation() throws IOException {
        return Installation.copy(folder.resolve("home"))
                .with("XDG_CACHE_HOME", folder.resolve("caches").toString());
    }

    @Test
    void aPartialReportIsKeptAndCompletedWhileOthersWait() throws Exception {
        Path report = folder.resolve("report");
        Installation installation = installation();
        Path err = folder.resolve("err.txt");
        Path third = folder.resolve("third.txt");
        Process waiting;
        Process suite = installation.start(
                err, "bench", "suite", "profile", "cross", "kernels", "--quick", "-o", report.toString());
        try (Deadline deadline = new Deadline(suite, LIMIT);
                BufferedReader out = suite.inputReader()) {
            suite.outputWriter().close();
            for (String line = out.readLine(); line != null && !line.contains("cross"); line = out.readLine()) {
                // the programs before end
            }
            Path second = folder.resolve("second.txt");
            Process other = installation.start(
                    second,
                    "bench",
                    "suite",
                    "profile",
                    "-o",
                    folder.resolve("2").toString());
            other.inputReader().transferTo(Writer.nullWriter());
            assertEquals(1, other.waitFor());
            assertTrue(Files.readString(second).contains("[STATE-003]"), () -> "a second suite is refused");
            waiting = installation.start(
                    third,
                    "bench",
                    "suite",
                    "profile",
                    "--quick",
                    "--wait",
                    "-o",
                    folder.resolve("3").toString());
            while (!Files.readString(third).contains("Waiting for process " + suite.pid())) {
                assertFalse(waiting.waitFor(50, TimeUnit.MILLISECONDS), "a third one waits");
            }
            assertEquals(
                    0,
                    new ProcessBuilder("kill", "-TERM", Long.toString(suite.pid()))
                            .start()
                            .waitFor());
            out.transferTo(Writer.nullWriter());
            assertEquals(143, deadline.await(), () -> "status after SIGTERM");
        }
        try (Deadline deadline = new Deadline(waiting, LIMIT)) {
            waiting.inputReader().transferTo(Writer.nullWriter());
            assertEquals(0, deadline.await(), () -> "it runs when the first has ended");
        }
        String partial = Files.readString(report.resolve("report.json"));
        assertTrue(partial.contains("\"interrupted\"") && partial.contains("\"passed\""), partial);
        assertTrue(Files.exists(report.resolve("report.html")));
        assertFalse(Files.exists(report.resolve("models")), "models that were made are deleted");

        Process again = installation.start(err, "bench", "suite", "--resume", report.toString());
        try (Deadline deadline = new Deadline(again, LIMIT);
                BufferedReader out = again.inputReader()) {
            again.outputWriter().close();
            out.readLine();
            boolean ignored = EndBySignalIT.interruptIsIgnored(); // then TERM does for Ctrl-C
            assertEquals(
                    0,
                    new ProcessBuilder("kill", ignored ? "-TERM" : "-INT", Long.toString(again.pid()))
                            .start()
                            .waitFor());
            out.transferTo(Writer.nullWriter());
            assertEquals(ignored ? 143 : 130, deadline.await(), () -> "status after Ctrl-C");
        }

        Process rest = installation.start(err, "bench", "suite", "--resume", report.toString());
        try (Deadline deadline = new Deadline(rest, LIMIT);
                BufferedReader out = rest.inputReader()) {
            rest.outputWriter().close();
            String table = String.join("\n", out.lines().toList());
            assertEquals(0, deadline.await(), () -> table);
            assertTrue(table.contains("kernels") && !table.contains("cross"), table);
        }
        String whole = Files.readString(report.resolve("report.json"));
        assertFalse(whole.contains("\"interrupted\""), whole);
        assertTrue(whole.contains("\"tok/s\"") && whole.contains("\"GFLOP/s\""), whole);
    }

    @Test
    void withoutTheStoryModelTheRestRuns() throws Exception {
        Path report = folder.resolve("report");
        Installation.Result result = installation()
                .with("TENON_MODEL", folder.resolve("missing.gguf").toString())
                .tenon("bench", "suite", "cross", "quant-sweep", "--quick", "-o", report.toString());
        assertEquals(0, result.code(), result::err);
        assertTrue(result.out().matches("(?s).*\\| cross +\\| skipped .*\\| quant-sweep +\\| passed .*"), result.out());
        String why = "perplexity: needs a trained model, and " + folder.resolve("missing.gguf") + " is not there";
        String text = Files.readString(report.resolve("report.md"));
        assertTrue(text.contains(why) && text.contains("| tok/s |"), text);
    }

    /// As where a driver takes the process along.
    @Test
    void aProgramThatIsKilledEndsAlone() throws Exception {
        Path report = folder.resolve("report");
        Process suite = installation()
                .start(
                        folder.resolve("err.txt"),
                        "bench",
                        "suite",
                        "profile",
                        "decode",
                        "--quick",
                        "-o",
                        report.toString());
        try (Deadline deadline = new Deadline(suite, LIMIT);
                BufferedReader out = suite.inputReader()) {
            suite.outputWriter().close();
            Optional<ProcessHandle> program = Optional.empty();
            while (program.isEmpty()) {
                assertFalse(suite.waitFor(20, TimeUnit.MILLISECONDS), "it runs a program");
                program = suite.descendants()
                        .filter(each -> each.info().commandLine().orElse("").contains("--inside"))
                        .findFirst();
            }
            assertTrue(program.get().destroyForcibly());
            String table = String.join("\n", out.lines().toList());
            assertEquals(1, deadline.await(), () -> table);
            assertTrue(table.matches("(?s).*profile +\\| failed .* status 137 .*decode +\\| passed .*"), () -> table);
        }
        assertTrue(Files.readString(report.resolve("report.json")).contains("\"passed\""));
    }

    /// A limit on the size of a file stands for a disk that is full: models cannot be made, the small report can.
    @Test
    void withoutDiskEachProgramSaysSo() throws Exception {
        Path report = folder.resolve("report");
        Process suite = installation()
                .startIn(
                        folder.resolve("err.txt"),
                        "ulimit -f 65536; exec \"$0\" \"$@\"",
                        List.of("bench", "suite", "profile", "decode", "--quick", "-o", report.toString()));
        try (Deadline deadline = new Deadline(suite, LIMIT);
                BufferedReader out = suite.inputReader()) {
            suite.outputWriter().close();
            String table = String.join("\n", out.lines().toList());
            assertEquals(1, deadline.await(), () -> table);
            assertTrue(
                    table.matches(
                            "(?s).*profile +\\| failed .* cannot be written: .*decode +\\| failed .* cannot be written: .*"),
                    table);
        }
        assertTrue(Files.readString(report.resolve("report.html")).contains("IO-"));
        assertFalse(Files.exists(report.resolve("models")), "what was made of the models is deleted");
    }
}
