package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A start that has a small share of one processor is slow and nothing else. Long, as that is what it is about: all
/// processes have the lowest priority, so that others on the machine are not slowed down.
@Tag("long")
class StarvedStartIT {
    private static final int BUSY = 8;
    /// Ends a hang; minutes where nothing else runs.
    private static final Duration LIMIT = Duration.ofMinutes(30);
    private static final String LEAST = "exec nice -n 19 taskset -c 0 ";

    @TempDir
    Path folder;

    @Test
    void aStartBesideManyBusyProcessesOnOneProcessorIsOnlySlow() throws Exception {
        assumeTrue(succeeds("taskset -c 0 true"), "taskset, which keeps processes on one processor, is missing");
        Installation installation = Installation.copy(folder).with("TENON_LOG", "warn");
        Path err = folder.resolve("err.txt");
        List<Process> busy = new ArrayList<>();
        try {
            for (int i = 0; i < BUSY; i++) {
                busy.add(new ProcessBuilder("sh", "-c", LEAST + "sh -c 'while :; do :; done'").start());
            }
            // Without the cache of classes there is more to do while components are activated.
            Process process = installation
                    .with("TENON_JAVA_OPTS", "-Xshare:auto")
                    .startIn(
                            err,
                            LEAST + "\"$0\" \"$@\"",
                            List.of("run", "-m", Jars.model().toString(), "-p", "Once", "-n", "1", "-t", "1", "-q"));
            try (Deadline deadline = new Deadline(process, LIMIT)) {
                process.outputWriter().close();
                String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertEquals(0, deadline.await(), () -> text(err));
                assertEquals("", text(err));
                assertEquals(1, out.lines().count(), out);
            }
        } finally {
            busy.forEach(Process::destroyForcibly);
            for (Process each : busy) {
                each.waitFor();
            }
        }
    }

    private static boolean succeeds(String command) throws IOException, InterruptedException {
        return new ProcessBuilder("sh", "-c", command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
