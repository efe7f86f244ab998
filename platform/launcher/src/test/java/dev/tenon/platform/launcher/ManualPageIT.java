package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The manual page in the distribution.
class ManualPageIT {
    @Test
    void commandsOfAllBundlesOfTheDistributionHaveAPart() throws IOException {
        List<String> lines =
                Files.readAllLines(Path.of(System.getProperty("tenon.test.home"), "share/man/man1/tenon.1"));
        for (String command :
                List.of("run", "pull", "bundles install", "quantize", "bench", "itest", "doctor nv\\-tegra")) {
            assertTrue(lines.contains(".SS tenon " + command), () -> command + " in " + lines);
        }
        assertFalse(lines.contains(".SS tenon nv"), "a command of an extra");
    }
}
