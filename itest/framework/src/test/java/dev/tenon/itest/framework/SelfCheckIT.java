package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `tenon self-check` of the distribution, whole and broken. The limit on time ends a hang.
@Timeout(600)
class SelfCheckIT {
    @TempDir
    Path folder;

    private Installation tenon;

    @BeforeEach
    void copy() throws Exception {
        tenon = Installation.copy(folder);
    }

    @Test
    void aWholeInstallationPasses() throws Exception {
        Installation.Result check = tenon.tenon("self-check");
        assertEquals(0, check.code(), check::toString);
        assertTrue(check.out().contains("as they were shipped"), check::toString);
        assertTrue(check.out().contains("PASS  continuation"), check::toString);
    }

    @Test
    void aBundleThatIsCutOffFailsWithACode() throws Exception {
        Path jar =
                tenon.home().resolve("bundles").resolve(Jars.ours("models-olmo").getFileName());
        try (RandomAccessFile file = new RandomAccessFile(jar.toFile(), "rw")) {
            file.setLength(Files.size(jar) / 2);
        }
        Installation.Result check = tenon.tenon("self-check");
        assertEquals(1, check.code(), check::toString);
        assertTrue(check.out().matches("(?s).*FAIL  file +" + jar + " .*\\[ENV-003].*"), check::toString);
        assertTrue(check.out().contains("-> Install it again"), check::toString);
    }
}
