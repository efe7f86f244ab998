package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs the model of the distribution through its script and looks at the memory of the process.
class ResidentMemoryIT {
    /// What the JVM, the platform and a plan may take beside weights and KV cache.
    private static final long ALLOWED_BYTES = 250L << 20;

    private static final Path PROC = Path.of("/proc");
    private static final Pattern PEAK = Pattern.compile("VmHWM:\\s+(\\d+) kB");

    @TempDir
    Path folder;

    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void weightsAndCacheAreJoinedByAQuarterOfAGigabyteAtMost() throws IOException, InterruptedException {
        assumeTrue(
                Files.isReadable(PROC.resolve("self/status")),
                "the memory of a process is read from /proc/PID/status, which only Linux has");
        Path home = Path.of(System.getProperty("tenon.test.home"));
        Path model = home.resolve("models/story-qwen3-q4_k_m.gguf");
        File out = folder.resolve("out").toFile();
        File err = folder.resolve("err").toFile();
        ProcessBuilder builder = new ProcessBuilder(
                home.resolve("bin/tenon").toString(),
                "run",
                "-m",
                model.toString(),
                "-p",
                "Once",
                "-n",
                "64",
                "--seed",
                "1");
        builder.environment().put("TENON_AOT", "off");
        builder.environment().remove("TENON_JAVA_OPTS");
        builder.redirectInput(new File("/dev/null")).redirectOutput(out).redirectError(err);
        Process process = builder.start();
        long peak = 0;
        try {
            // The script is replaced by the JVM, under the same id; its peak only grows.
            while (!process.waitFor(2, TimeUnit.MILLISECONDS)) {
                peak = Math.max(peak, peakBytes(process.pid()));
            }
        } finally {
            process.destroyForcibly();
        }
        assertEquals(0, process.exitValue(), () -> read(err));
        assertTrue(read(out).length() > 20, () -> "too short an answer: " + read(out) + read(err));
        long limit = Files.size(model) + ALLOWED_BYTES;
        assertTrue(peak > 20 << 20, "only " + peak + " bytes: that was not the JVM");
        assertTrue(peak <= limit, peak + " bytes resident, of which at most " + limit + " are allowed");
    }

    /// Reads the most that was ever resident; 0 when the process has just ended.
    private static long peakBytes(long pid) throws IOException {
        try {
            Matcher matcher = PEAK.matcher(
                    Files.readString(PROC.resolve(Long.toString(pid)).resolve("status")));
            return matcher.find() ? Long.parseLong(matcher.group(1)) << 10 : 0;
        } catch (NoSuchFileException e) {
            return 0;
        } catch (IOException e) {
            if (Files.exists(PROC.resolve(Long.toString(pid)).resolve("exe"))) {
                throw e;
            }
            return 0;
        }
    }

    private static String read(File file) {
        try {
            return Files.readString(file.toPath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
