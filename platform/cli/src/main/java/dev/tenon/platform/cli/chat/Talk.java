package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jline.terminal.Terminal;

/// A chat from the first message to the last, as `chat` and `run` start it.
final class Talk {
    private Talk() {}

    /// Opens the terminal.
    @FunctionalInterface
    interface Opener {
        /// {@return the terminal; the caller closes it}
        ///
        /// @throws IOException if it cannot be opened
        Terminal open() throws IOException;
    }

    /// Chats with the person at the terminal, or answers what comes from standard input.
    ///
    /// @param console where answers go
    /// @param loaded what answers
    /// @param session holds the conversation; the caller closes it
    /// @param settings how to answer
    /// @param system the system message, or an empty string
    /// @param parts pictures and sounds of the first message
    /// @param terminal where a person writes
    /// @return exit status
    /// @throws IOException if reading fails
    static int run(
            Console console,
            LoadedModel loaded,
            Session session,
            ChatSettings settings,
            String system,
            List<MediaPart> parts,
            Opener terminal)
            throws IOException {
        boolean interactive = console.inIsTerminal() && console.outIsTerminal();
        try (ChatInput input = interactive
                ? new TerminalChatInput(
                        terminal.open(), historyFile(console), ChatCommands.names(), "> ", console.errIsTerminal())
                : new PlainChatInput(console.in())) {
            if (interactive) {
                console.note(loaded.config().name() + " on " + loaded.backend() + ", context " + loaded.contextLength()
                        + ". /help lists the commands, Ctrl-D exits.");
            }
            Attachments attached = new Attachments(loaded, parts);
            return new Chat(console, loaded, session, input, settings, system, attached, interactive).talk();
        }
    }

    private static Path historyFile(Console console) {
        Path file =
                console.setting("chat.history").map(Path::of).orElseGet(() -> HistoryFile.standard(System.getenv()));
        try {
            HistoryFile.prepare(file);
            return file;
        } catch (IOException e) {
            console.note("(messages are not kept for other chats: "
                    + OutputFile.failed(file, e).getMessage() + ")");
            return null;
        }
    }
}
