package dev.tenon.backend.nv.tegra.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the tools are those of a Unix system")
class MachineTests {
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void toolsAreHeard() {
        assertEquals("heard", Machine.run(LONG, "echo", "heard"));
    }

    @Test
    void whatFailsOrIsNotThereSaysNothing() {
        assertEquals("", Machine.run(LONG, "sh", "-c", "echo text; exit 3"));
        assertEquals("", Machine.run(LONG, "there-is-no-such-tool"));
    }

    /// Without the limit this takes as long as the tool, which holds its output open.
    @Test
    @Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aToolThatDoesNotEndIsKilled() throws Exception {
        Path started = Files.createTempFile("tool", ".pid");
        assertEquals(
                "",
                Machine.run(
                        Duration.ofMillis(500), "sh", "-c", "echo $$ > " + started + "; echo text; exec sleep 600"));
        String pid = Files.readString(started).strip();
        Files.delete(started);
        assumeTrue(!pid.isEmpty(), "the tool was killed before it began");
        ProcessHandle tool = ProcessHandle.of(Long.parseLong(pid)).orElse(null);
        assertTrue(tool == null || tool.onExit().get(20, TimeUnit.SECONDS) != null);
    }
}
