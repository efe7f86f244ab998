package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Pages of `docs/` that are made from the code are what the code makes now.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class PagesIT {
    private static final String RENEW =
            "./mvnw verify -pl itest/framework -am -Dtest=none -Dsurefire.failIfNoSpecifiedTests=false -Dit.test=PagesIT"
                    + " -Dfailsafe.failIfNoSpecifiedTests=false -Dtenon.pages=write";

    @TempDir
    Path folder;

    @Test
    void settings() throws Exception {
        compare("settings.md", printed("config", "--markdown"), "./tenon config --markdown > docs/settings.md");
    }

    @Test
    void commands() throws Exception {
        compare("commands.md", printed("help", "--markdown"), "./tenon help --markdown > docs/commands.md");
    }

    @Test
    void support() throws Exception {
        compare("support.md", SupportPage.text(RENEW), RENEW);
    }

    @Test
    void fields() throws Exception {
        compare("fields.md", FieldsPage.text(RENEW), RENEW);
    }

    @Test
    void decisions() throws Exception {
        compare("decisions/README.md", DecisionsPage.text(RENEW), RENEW);
    }

    @Test
    void extensionPoints() throws Exception {
        compare("extension-points.md", ExtensionPage.text(RENEW), RENEW);
    }

    private static void compare(String name, String made, String renew) throws IOException {
        Path page = Path.of("../../docs").resolve(name);
        if ("write".equals(System.getProperty("tenon.pages"))) {
            Files.writeString(page, made);
        }
        List<String> lines = made.lines().toList();
        List<String> now = Files.exists(page) ? Files.readAllLines(page) : List.of();
        for (int i = 0; i < Math.max(lines.size(), now.size()); i++) {
            assertEquals(
                    i < lines.size() ? lines.get(i) : "(no more lines)",
                    i < now.size() ? now.get(i) : "(no more lines)",
                    "line " + (i + 1) + " of docs/" + name + " is out of date; to renew the page run: " + renew);
        }
    }

    /// {@return what a command of the distribution prints}
    private String printed(String... args) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Jars.distribution().resolve("bin/tenon").toString()));
        command.addAll(List.of(args));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TENON_") || name.startsWith("MV_"));
        builder.environment().put("TENON_AOT", "off");
        assertEquals(0, builder.start().waitFor(), command + ": " + Files.readString(err));
        return Files.readString(out);
    }
}
