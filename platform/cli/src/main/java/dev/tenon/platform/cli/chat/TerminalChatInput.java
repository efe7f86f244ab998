package dev.tenon.platform.cli.chat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jline.reader.EOFError;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.Reference;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.reader.impl.completer.StringsCompleter;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/// Messages from a terminal, with editing and a persistent history. Alt-Enter begins a new line, as
/// does Shift-Enter where the terminal tells it from Enter.
final class TerminalChatInput implements ChatInput {
    private static final String NEW_LINE = "tenon-new-line";
    /// Alt-Enter, and Shift-Enter as terminals send it (two ways).
    private static final CharSequence[] NEW_LINE_KEYS = {"\u001b\r", "\u001b\n", "\u001b[13;2u", "\u001b[27;2;13~"};

    private final Terminal terminal;
    private final LineReader reader;
    private final String prompt;
    private final boolean messages;

    /// Reads from a terminal.
    ///
    /// @param terminal the terminal; closed with this
    /// @param history file that keeps the lines, which is there, or null
    /// @param commands what the tabulator key completes
    /// @param prompt what stands before each line
    /// @param messages whether standard error is shown on this terminal, too
    TerminalChatInput(Terminal terminal, Path history, List<String> commands, String prompt, boolean messages) {
        this.terminal = terminal;
        this.prompt = prompt;
        this.messages = messages;
        DefaultParser parser = new Lines();
        parser.setQuoteChars(new char[0]);
        parser.setEscapeChars(new char[0]);
        reader = LineReaderBuilder.builder()
                .terminal(terminal)
                .appName("tenon")
                .parser(parser)
                .completer(new StringsCompleter(commands))
                .variable(LineReader.HISTORY_SIZE, 1000)
                .variable(LineReader.SECONDARY_PROMPT_PATTERN, ". ")
                .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                .option(LineReader.Option.HISTORY_TIMESTAMPED, false)
                .build();
        if (history != null) {
            reader.setVariable(LineReader.HISTORY_FILE, history);
        }
        reader.getWidgets().put(NEW_LINE, () -> {
            reader.getBuffer().write('\n');
            return true;
        });
        reader.getKeyMaps().get(LineReader.MAIN).bind(new Reference(NEW_LINE), NEW_LINE_KEYS);
    }

    /// {@return the terminal of the process}
    ///
    /// @throws IOException if it cannot be opened
    static Terminal system() throws IOException {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // JLine looks its terminal providers up through the context class loader.
        thread.setContextClassLoader(TerminalBuilder.class.getClassLoader());
        try {
            return TerminalBuilder.builder().system(true).name("tenon").build();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Override
    public String read() {
        while (true) {
            try {
                return line(null);
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
    public String edit(String text) {
        try {
            return line(text);
        } catch (UserInterruptException | EndOfFileException e) {
            return null; // given up
        }
    }

    private String line(String buffer) {
        return messages
                ? MessagesAbove.readLine(reader, prompt, buffer)
                : reader.readLine(prompt, null, (Character) null, buffer);
    }

    @Override
    public int width() {
        return terminal.getWidth() > 0 ? terminal.getWidth() : 80;
    }

    @Override
    public void close() throws IOException {
        terminal.close();
    }

    /// Lets Enter go on to the next line where [MultiLine] wants one.
    private static final class Lines extends DefaultParser {
        @Override
        public ParsedLine parse(String line, int cursor, ParseContext context) {
            if (context == ParseContext.ACCEPT_LINE && MultiLine.incomplete(line)) {
                throw new EOFError(-1, -1, "more lines are wanted");
            }
            return super.parse(line, cursor, context);
        }
    }
}
