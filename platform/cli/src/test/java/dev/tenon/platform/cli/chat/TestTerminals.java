package dev.tenon.platform.cli.chat;

import dev.tenon.platform.cli.TenonCommand;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jline.terminal.impl.ExternalTerminal;

/// Terminals on which a text is typed.
public final class TestTerminals {
    private TestTerminals() {}

    /// Gives a command that chats such a terminal; does nothing to others.
    public static void type(TenonCommand command, String text) {
        Talk.Opener terminal = () -> new ExternalTerminal(
                "test",
                "xterm",
                new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
                OutputStream.nullOutputStream(),
                StandardCharsets.UTF_8);
        switch (command) {
            case RunCommand run -> run.terminal = terminal;
            case ChatCommand chat -> chat.terminal = terminal;
            default -> {}
        }
    }
}
