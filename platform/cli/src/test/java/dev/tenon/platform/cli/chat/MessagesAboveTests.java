package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.ExternalTerminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class MessagesAboveTests {
    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

    private void await(String text) throws InterruptedException {
        while (!shown.toString(StandardCharsets.UTF_8).contains(text)) {
            Thread.sleep(5);
        }
    }

    @Test
    void aMessageWhileALineIsTypedIsPrintedAboveItAndTheLineIsWhole() throws Exception {
        PrintStream before = System.err;
        try (PipedOutputStream keys = new PipedOutputStream();
                PipedInputStream in = new PipedInputStream(keys);
                Terminal terminal = new ExternalTerminal("test", "xterm", in, shown, StandardCharsets.UTF_8)) {
            LineReader reader = LineReaderBuilder.builder().terminal(terminal).build();
            CompletableFuture<String> line =
                    CompletableFuture.supplyAsync(() -> MessagesAbove.readLine(reader, "ask> ", null));
            await("ask> ");
            keys.write("half ".getBytes(StandardCharsets.UTF_8));
            keys.flush();
            await("half ");
            System.err.print("WARN one");
            System.err.println(" problem");
            await("WARN one problem");
            String text = shown.toString(StandardCharsets.UTF_8);
            assertTrue(
                    text.substring(0, text.indexOf("WARN one problem"))
                            .matches("(?s).*(\r|\n|\u001b\\[[\\d;]*[A-Za-z])"),
                    () -> "not at the start of a line: " + text.replace('\u001b', '^'));
            keys.write("a line\r".getBytes(StandardCharsets.UTF_8));
            keys.flush();
            assertEquals("half a line", line.get());
        }
        assertSame(before, System.err);
    }
}
