package dev.tenon.platform.cli.chat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.reader.impl.completer.StringsCompleter;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/// Lines from a terminal, with editing and a persistent history.
final class TerminalChatInput implements ChatInput {
    private final Terminal terminal;
    private final LineReader reader;
    private final String prompt;
    private final boolean messages;

    /// Opens the terminal.
    ///
    /// @param history file that keeps the lines
    /// @param commands what the tabulator key completes
    /// @param prompt what stands before each line
    /// @param messages whether standard error is shown on this terminal, too
    /// @throws IOException if the terminal cannot be opened
    TerminalChatInput(Path history, List<String> commands, String prompt, boolean messages) throws IOException {
        this.prompt = prompt;
        this.messages = messages;
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // JLine looks its terminal providers up through the context class loader.
        thread.setContextClassLoader(TerminalBuilder.class.getClassLoader());
        try {
            Files.createDirectories(history.toAbsolutePath().getParent());
            terminal = TerminalBuilder.builder().system(true).name("tenon").build();
            DefaultParser parser = new DefaultParser();
            parser.setQuoteChars(new char[0]);
            parser.setEscapeChars(new char[0]);
            reader = LineReaderBuilder.builder()
                    .terminal(terminal)
                    .appName("tenon")
                    .parser(parser)
                    .completer(new StringsCompleter(commands))
                    .variable(LineReader.HISTORY_FILE, history)
                    .variable(LineReader.HISTORY_SIZE, 1000)
                    .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                    .option(LineReader.Option.HISTORY_TIMESTAMPED, false)
                    .build();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Override
    public String read() {
        while (true) {
            try {
                return messages ? MessagesAbove.readLine(reader, prompt) : reader.readLine(prompt);
            } catch (UserInterruptException e) {
                if (e.getPartialLine().isEmpty()) {
                    terminal.writer().println("(Ctrl-D or /exit ends the chat)");
                    terminal.flush();
                }
            } catch (EndOfFileException e) {
                return null;
            }
        }
    }

    @Override
    public void close() throws IOException {
        terminal.close();
    }
}
