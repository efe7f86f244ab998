package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.impl.ExternalTerminal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 1, unit = TimeUnit.MINUTES)
class TerminalChatInputTests {
    private static final String CTRL_C = "\u0003";
    private static final String CTRL_D = "\u0004";

    @TempDir
    Path folder;

    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
    private final PipedOutputStream keys = new PipedOutputStream();
    private Path history;
    private TerminalChatInput input;

    @BeforeEach
    void setUp() throws IOException {
        history = Files.createFile(folder.resolve("history"));
        PipedInputStream in = new PipedInputStream(keys, 1 << 16);
        input = new TerminalChatInput(
                new ExternalTerminal("test", "xterm", in, shown, StandardCharsets.UTF_8),
                history,
                List.of("/help", "/retry"),
                "> ",
                false);
    }

    @AfterEach
    void tearDown() throws IOException {
        keys.close();
        input.close();
    }

    private void type(String text) throws IOException {
        keys.write(text.getBytes(StandardCharsets.UTF_8));
        keys.flush();
    }

    @Test
    void enterEndsALine() throws IOException {
        type("One\rTwo\r" + CTRL_D);
        assertEquals("One", input.read());
        assertEquals("Two", input.read());
        assertNull(input.read());
        assertEquals("One\nTwo\n", Files.readString(history));
    }

    @Test
    void quotesAndBackslashesGoOn() throws IOException {
        type("\"\"\"\rOne\rTwo\"\"\"\rThree\\\rfour\r");
        assertEquals("One\nTwo", MultiLine.text(input.read()));
        assertEquals("Three\nfour", MultiLine.text(input.read()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u001b\r", "\u001b\n", "\u001b[13;2u", "\u001b[27;2;13~"})
    void altEnterAndShiftEnterBeginANewLine(String key) throws IOException {
        type("One" + key + "two\r");
        assertEquals("One\ntwo", input.read());
    }

    @Test
    void messageIsEdited() throws IOException {
        type(" there\r");
        assertEquals("Hello\nyou there", input.edit("Hello\nyou"));
    }

    @Test
    void editingIsGivenUpWithCtrlC() throws Exception {
        CompletableFuture<String> edited = CompletableFuture.supplyAsync(() -> input.edit("Hello"));
        while (!shown.toString(StandardCharsets.UTF_8).contains("> Hello")) {
            Thread.sleep(5);
        }
        type(CTRL_C);
        assertNull(edited.get());
    }

    @Test
    void tabCompletesACommand() throws IOException {
        type("/re\t\r");
        assertEquals("/retry", input.read().strip());
    }
}
