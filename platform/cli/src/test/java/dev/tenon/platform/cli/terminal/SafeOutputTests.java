package dev.tenon.platform.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A terminal gets no control characters of names and texts that are not ours.
class SafeOutputTests {
    /// Sets a colour, moves the cursor, and turns the direction of the text.
    private static final String NAME = "red\u001b[31m\u001b[2A\u202egguf.\u2066";

    private static final Pattern ACTIVE = Pattern.compile("[\\p{Cc}\\u202a-\\u202e\\u2066-\\u2069&&[^\\n]]");

    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void setUp() throws IOException {
        cli = new TestCli(folder);
        cli.settings.put("color", "never");
        Path file = folder.resolve("models").resolve(NAME + ".gguf");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "fake");
        cli.engine.answer = text -> "A " + NAME + ".";
    }

    @Test
    void noCommandPrintsWhatATerminalWouldObey() {
        cli.outTerminal = true;
        cli.errTerminal = true;
        String model = cli.settings.get("models") + "/" + NAME + ".gguf";
        List<String[]> lines = List.of(
                new String[] {"list"},
                new String[] {"show", NAME},
                new String[] {"inspect", model},
                new String[] {"run", "-m", NAME, "-p", NAME},
                new String[] {"run", "-m", NAME, NAME},
                new String[] {"tokenize", "-m", model, NAME},
                new String[] {"run", "-m", "missing" + NAME, "-p", "x"},
                new String[] {"run", "--" + NAME},
                new String[] {NAME},
                new String[] {"pull", "http://" + NAME},
                new String[] {"cp", NAME, "b" + NAME},
                new String[] {"rm", NAME},
                new String[] {"rm", "-y", NAME});
        for (String[] line : lines) {
            TestCli.Result result = cli.run(line);
            String all = result.out() + result.err();
            assertFalse(ACTIVE.matcher(all).find(), () -> String.join(" ", line) + ": " + all);
            assertTrue(all.contains("\\u001b[31m"), () -> String.join(" ", line) + ": " + all);
        }
    }

    /// What is not shown is data.
    @Test
    void aPipeGetsNamesAsTheyAre() {
        assertEquals(NAME + "\n", cli.run("list", "-q").out());
        assertTrue(cli.run("run", "-m", NAME, "-p", NAME).out().startsWith(NAME));
    }

    @Test
    void ownStylesAndTextsOfManyLinesPass() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Streams streams = Streams.of(new ByteArrayInputStream(new byte[0]), out, out, true, true, true);
        streams.out().print("a\tb\r\n" + "x".repeat(10_000) + "\u001b");
        streams.styledOut().print("\u001b[1mbold");
        streams.out().print("\u0007\n");
        streams.out().flush();
        assertEquals(
                "a\tb\r\n" + "x".repeat(10_000) + "\\u001b\u001b[1mbold\\u0007\n",
                out.toString(StandardCharsets.UTF_8));
    }
}
