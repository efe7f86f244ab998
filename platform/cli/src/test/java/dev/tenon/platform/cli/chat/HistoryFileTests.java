package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class HistoryFileTests {
    @TempDir
    Path folder;

    @Test
    void liesInTheFolderForState() {
        assertEquals(
                folder.resolve("tenon/history"), HistoryFile.standard(Map.of("XDG_STATE_HOME", folder.toString())));
        assertEquals(
                Path.of(System.getProperty("user.home"), ".local", "state", "tenon", "history"),
                HistoryFile.standard(Map.of("XDG_STATE_HOME", "")));
        assertEquals(
                HistoryFile.standard(Map.of()),
                HistoryFile.standard(Map.of("XDG_STATE_HOME", "relative")),
                "is ignored");
    }

    @Test
    void theSettingsFileNamesIt() throws IOException {
        String line = Files.readAllLines(Path.of("../launcher/src/main/dist/etc/dev.tenon.platform.cli.cfg")).stream()
                .filter(each -> each.startsWith("#chat.history = "))
                .findFirst()
                .orElseThrow();
        assertEquals(
                "#chat.history = " + HistoryFile.standard(Map.of()),
                line.replace("${user.home}", System.getProperty("user.home")));
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "it has no such permissions")
    void onlyItsOwnerCanReadIt() throws IOException {
        Path file = folder.resolve("new/history");
        HistoryFile.prepare(file);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        Files.writeString(file, "Hello\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        HistoryFile.prepare(file);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals("Hello\n", Files.readString(file));
    }
}
