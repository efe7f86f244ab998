package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A command that is told to end does so with the shell's status and without complaints about bundles
/// that were stopped under it.
class EndBySignalIT {
    private static final long SIGINT_BIT = 1 << 2 - 1;
    /// For start, load and end; seconds on an idle machine.
    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    Path folder;

    /// The signal comes while the model is loaded or the generation begins: an end at any moment has to be heard.
    @ParameterizedTest
    @CsvSource({"bench, TERM, 143", "bench, INT, 130", "run, TERM, 143", "run, INT, 130"})
    void aCommandEndsQuietly(String command, String signal, int status) throws Exception {
        assumeTrue(!signal.equals("INT") || !interruptIsIgnored(), "this process was started with SIGINT ignored");
        Installation installation = Installation.copy(folder).with("TENON_LOG", "warn");
        Path err = folder.resolve("err.txt");
        String model = Jars.model().toString();
        List<String> line = command.equals("bench")
                ? List.of("bench", "-m", model, "-p", "0", "-n", "16", "-r", "100000", "--bandwidth-mib", "0")
                : List.of("run", "-m", model, "-p", "Once", "-n", "100000", "-c", "120000", "--ignore-eos");
        Process process = installation.start(err, line.toArray(String[]::new));
        int exit;
        try (Deadline deadline = new Deadline(process, LIMIT);
                BufferedReader out = process.inputReader()) {
            process.outputWriter().close();
            // The table's head, and the first letter of the text: the model has been loaded, or soon will be.
            boolean begun = command.equals("bench") ? out.readLine() != null : out.read() >= 0;
            if (begun) {
                Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
                assertEquals(0, kill.waitFor());
            }
            out.transferTo(Writer.nullWriter());
            exit = deadline.await();
        }
        assertEquals(status, exit, () -> text(err));
        assertEquals("", Files.readString(err));
    }

    /// A process that is started with SIGINT ignored, as background jobs of a shell are, hands that on.
    static boolean interruptIsIgnored() throws Exception {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return false;
        }
        String ignored = Files.readAllLines(status).stream()
                .filter(l -> l.startsWith("SigIgn:"))
                .findFirst()
                .orElse("SigIgn: 0");
        return (Long.parseUnsignedLong(ignored.substring(7).strip(), 16) & SIGINT_BIT) != 0;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
