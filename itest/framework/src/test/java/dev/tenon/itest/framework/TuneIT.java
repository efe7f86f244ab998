package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `tenon tune` of the distribution, in the processes that it starts; and what becomes of its result.
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class TuneIT {
    @TempDir
    Path folder;

    private Installation installation;
    private Path tuned;
    private String model;

    @BeforeEach
    void install() throws IOException {
        tuned = folder.resolve("tuned");
        installation = Installation.copy(folder)
                .with("TENON_LOG", "warn")
                .with("TENON_TUNED_FOLDER", tuned.toString())
                // The lock of measurements lies there: others on this machine do not matter here.
                .with("XDG_CACHE_HOME", folder.resolve("caches").toString());
        model = Jars.model().toString();
    }

    private Installation.Result run(int status, String... line) throws Exception {
        Installation.Result result = installation.tenon(line);
        assertEquals(status, result.code(), result::toString);
        return result;
    }

    private Path kept() throws IOException {
        try (Stream<Path> files = Files.list(tuned)) {
            List<Path> all =
                    files.filter(file -> file.toString().endsWith(".tuned")).toList();
            assertEquals(1, all.size(), all::toString);
            return all.getFirst();
        }
    }

    /// Puts a setting into a result, as if it had been found.
    private void find(String setting) throws Exception {
        List<String> lines = new ArrayList<>(Files.readAllLines(kept()));
        lines.removeLast();
        lines.removeIf(line -> line.startsWith("set "));
        lines.add("set " + setting);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (String line : lines) {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
            digest.update(bytes);
        }
        lines.add("sha256 " + HexFormat.of().formatHex(digest.digest()));
        Files.write(kept(), lines);
    }

    private String bench(String... more) throws Exception {
        List<String> line = new ArrayList<>(
                List.of("bench", "-m", model, "-p", "4", "-n", "0", "-r", "1", "--no-warmup", "--bandwidth-mib", "0"));
        line.addAll(List.of(more));
        return run(0, line.toArray(String[]::new)).err();
    }

    @Test
    void whatWasFoundIsKeptUsedToldAndForgotten() throws Exception {
        Installation.Result search = run(0, "tune", "-m", model, "-p", "16", "-n", "16", "--budget", "8s");
        assertTrue(search.out().contains("Kept: ") || search.out().contains("The defaults stay: "), search::toString);
        find("threads.claims=16");
        String told = bench();
        assertTrue(told.contains("Tuned: threads.claims=16"), told);
        told = bench("--set", "threads.spin-us=100");
        assertTrue(told.contains("not used: settings given are threads.spin-us=100"), told);
        told = bench("--set", "tuned=off");
        assertTrue(told.contains("not used: setting tuned=off"), told);
        String why = run(0, "bundles", "--why", "-m", model).out();
        assertTrue(why.contains("threads.claims=16"), why);
        String doctor = installation.tenon("doctor").out();
        assertTrue(doctor.contains("threads.claims=16"), doctor);
        find("threads.claims=7");
        told = bench();
        assertTrue(told.contains("threads.claims=7 is not among what cpu-vector tries"), told);
        Files.writeString(kept(), "changed", StandardOpenOption.APPEND);
        told = bench();
        assertTrue(told.contains("is not used: its last line is not the digest"), told);
        assertEquals(
                "1 results of 'tenon tune' removed\n", run(0, "tune", "--reset").out());
        assertEquals("", bench());
    }

    @Test
    void toldToEndItKeepsItsLog() throws Exception {
        assumeFalse(EndBySignalIT.interruptIsIgnored(), "this process was started with SIGINT ignored");
        Path err = folder.resolve("err.txt");
        Process process = installation.start(err, "tune", "-m", model, "-p", "16", "-n", "16", "--budget", "1h");
        StringBuilder text = new StringBuilder();
        try (Deadline deadline = new Deadline(process, Duration.ofMinutes(5));
                BufferedReader out = process.inputReader()) {
            process.outputWriter().close();
            assertTrue(out.readLine().contains("on cpu-vector"));
            text.append(out.readLine()).append('\n'); // a candidate
            Process kill = new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start();
            assertEquals(0, kill.waitFor());
            out.lines().forEach(line -> text.append(line).append('\n'));
            assertEquals(130, deadline.await(), () -> text.toString());
        }
        assertTrue(text.toString().contains("(interrupted)"), text.toString());
        assertTrue(Files.readString(kept()).contains("result none of"), text.toString());
        assertEquals(0, process.descendants().count(), "processes that were left");
    }
}
