package dev.tenon.platform.launcher.home;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CfgFileTests {
    @TempDir
    Path folder;

    @Test
    void nameOfTheFileIsThePid() throws IOException {
        CfgFile cfg = read("dev.tenon.platform.cfg", "backend = auto\n");

        assertEquals("dev.tenon.platform", cfg.pid());
        assertNull(cfg.name());
        assertEquals(Map.of("backend", "auto"), cfg.values());
    }

    @Test
    void partAfterTheFirstDashNamesOneInstanceOfAFactory() throws IOException {
        CfgFile cfg = read("dev.tenon.model-big-one.cfg", "");

        assertEquals("dev.tenon.model", cfg.pid());
        assertEquals("big-one", cfg.name());
    }

    @Test
    void keyIsTheUriOfTheAbsolutePath() throws IOException {
        CfgFile cfg = read("a b.cfg", "");

        assertEquals(folder.resolve("a b.cfg").toAbsolutePath().toFile().toURI().toString(), cfg.key());
    }

    @Test
    void commentsAreSkippedAndTextIsUtf8() throws IOException {
        CfgFile cfg = read("x.cfg", "# note\n#off = 1\nname = Zoë\n\n");

        assertEquals(Map.of("name", "Zoë"), cfg.values());
    }

    @Test
    void variablesAreReplacedAndUnknownOnesAreEmpty() throws IOException {
        CfgFile cfg = read("x.cfg", "a = ${home}/m\nb = <${nothing}>\nc = ${env:TENON_SURELY_UNSET}.\nd = 1$\n");

        assertEquals(Map.of("a", "/opt/$1/m", "b", "<>", "c", ".", "d", "1$"), cfg.values());
    }

    @Test
    void bytesThatAreNotUtf8AreRefused() throws IOException {
        Path file = Files.write(folder.resolve("x.cfg"), new byte[] {'a', '=', (byte) 0xff});

        assertThrows(IOException.class, () -> CfgFile.read(file, name -> null));
    }

    @Test
    void badEscapeIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("x.cfg"), "a = \\u00zz\n");

        assertThrows(IOException.class, () -> CfgFile.read(file, name -> null));
    }

    private CfgFile read(String name, String text) throws IOException {
        Path file = Files.writeString(folder.resolve(name), text, StandardCharsets.UTF_8);
        return CfgFile.read(file, variable -> variable.equals("home") ? "/opt/$1" : null);
    }
}
