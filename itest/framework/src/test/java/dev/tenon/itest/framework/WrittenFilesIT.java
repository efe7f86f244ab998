package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What commands leave when a signal, a full disk or a reader that goes away ends them.
class WrittenFilesIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    Path folder;

    private Path out;
    private Installation installation;

    @BeforeEach
    void copyDistribution() throws IOException {
        installation = Installation.copy(folder).with("TENON_LOG", "warn");
        out = Files.createDirectory(folder.resolve("out"));
    }

    private List<String> left() throws IOException {
        try (Stream<Path> files = Files.list(out)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    /// Standard error without what every JVM prints that is started without a start-up cache.
    private List<String> words(String line) {
        return List.of(line.replace("MODEL", Jars.model().toString())
                .replace("OUT", out.toString())
                .split(" "));
    }

    @ParameterizedTest
    @CsvSource({
        "quantize -t 1 MODEL OUT/m.gguf Q2_K, TERM, 143",
        "synth llama-3.2-1b -o OUT/m.gguf -t 1, TERM, 143",
        "synth llama-3.2-1b -o OUT/m.gguf -t 2, INT, 130"
    })
    void anUnfinishedFileIsRemovedAtASignal(String line, String signal, int status) throws Exception {
        assumeTrue(
                !signal.equals("INT") || !EndBySignalIT.interruptIsIgnored(),
                "this process was started with SIGINT ignored");
        Path err = folder.resolve("err.txt");
        Process process = installation.start(err, words(line).toArray(String[]::new));
        try (Deadline deadline = new Deadline(process, LIMIT)) {
            while (left().isEmpty() && process.isAlive()) {
                Thread.onSpinWait();
            }
            assertTrue(left().toString().matches("\\[m\\.gguf\\.\\d+-[0-9a-f]+\\.tmp]"), () -> "begun: " + out);
            assertEquals(
                    0,
                    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                            .start()
                            .waitFor());
            assertEquals(status, deadline.await(), Files.readString(err));
        }
        assertEquals(List.of(), left());
        assertEquals("", Files.readString(err));
    }

    @Test
    void aFullDiskIsOneLineAndLeavesNothing() throws Exception {
        // A limit on the size of files is a full disk to the process that has it.
        Path err = folder.resolve("err.txt");
        Process process = installation.startIn(
                err, "ulimit -f 200000 && exec \"$0\" \"$@\"", words("synth llama-3.2-1b -o OUT/m.gguf"));
        try (Deadline deadline = new Deadline(process, LIMIT)) {
            assertEquals(1, deadline.await(), Files.readString(err));
        }
        assertTrue(
                Files.readString(err).matches("tenon: .*/m\\.gguf cannot be written: [^\\n]* \\[IO-001]\\n"),
                Files.readString(err));
        assertEquals(List.of(), left());
    }

    @ParameterizedTest
    @ValueSource(strings = {"inspect --json MODEL", "help --markdown", "bench -o json -m MODEL -p 4 -n 0 -r 1"})
    void fullStandardOutputIsOneLine(String line) throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/full")), "no /dev/full here");
        Path err = folder.resolve("err.txt");
        Process process = installation.startIn(err, "exec \"$0\" \"$@\" >/dev/full", words(line));
        try (Deadline deadline = new Deadline(process, LIMIT)) {
            assertEquals(1, deadline.await(), Files.readString(err));
        }
        assertTrue(
                Files.readString(err).matches("tenon: Standard output cannot be written: [^\\n]* \\[IO-001]\\n"),
                Files.readString(err));
    }

    @ParameterizedTest
    @ValueSource(strings = {"inspect --json MODEL", "run -m MODEL -p Once -n 100000 -c 120000 --ignore-eos"})
    void aReaderThatGoesEndsTheCommandQuietly(String line) throws Exception {
        Path err = folder.resolve("err.txt");
        Process process = installation.start(err, words(line).toArray(String[]::new));
        try (Deadline deadline = new Deadline(process, LIMIT)) {
            process.outputWriter(StandardCharsets.UTF_8).close();
            process.getInputStream().close();
            assertEquals(141, deadline.await(), Files.readString(err));
        }
        assertEquals("", Files.readString(err));
    }
}
