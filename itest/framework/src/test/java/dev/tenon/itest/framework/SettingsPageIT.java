package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The page of settings is what the distribution's bundles declare.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class SettingsPageIT {
    private static final Path PAGE = Path.of("../../docs/settings.md");

    @TempDir
    Path folder;

    @Test
    void thePageHoldsWhatTheBundlesDeclare() throws Exception {
        Path page = folder.resolve("settings.md");
        ProcessBuilder builder = new ProcessBuilder(
                        Jars.distribution().resolve("bin/tenon").toString(), "config", "--markdown")
                .redirectOutput(page.toFile())
                .redirectError(folder.resolve("err").toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TENON_") || name.startsWith("MV_"));
        builder.environment().put("TENON_AOT", "off");
        assertEquals(0, builder.start().waitFor(), () -> read(folder.resolve("err")));
        assertEquals(read(page), read(PAGE), "run ./tenon config --markdown > docs/settings.md");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(file.toString(), e);
        }
    }
}
