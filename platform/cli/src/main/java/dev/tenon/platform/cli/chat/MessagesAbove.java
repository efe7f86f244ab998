package dev.tenon.platform.cli.chat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.jline.reader.LineReader;

/// Standard error while a line is edited: messages, such as those of the log, are printed above the
/// line, which stays as it is.
final class MessagesAbove extends ByteArrayOutputStream {
    private final LineReader reader;

    private MessagesAbove(LineReader reader) {
        this.reader = reader;
    }

    /// Reads a line.
    ///
    /// @param reader edits it
    /// @param prompt what stands before it
    /// @param buffer what stands in it at first, or null
    /// @return the line
    static String readLine(LineReader reader, String prompt, String buffer) {
        PrintStream before = System.err;
        MessagesAbove messages = new MessagesAbove(reader);
        System.setErr(new PrintStream(messages, true, StandardCharsets.UTF_8));
        try {
            return reader.readLine(prompt, null, (Character) null, buffer);
        } finally {
            System.setErr(before);
            before.print(messages.take());
        }
    }

    @Override
    public void flush() {
        String text;
        synchronized (this) {
            if (count == 0 || buf[count - 1] != '\n') {
                return; // a part of a line
            }
            text = take();
        }
        reader.printAbove(text);
    }

    private synchronized String take() {
        String text = toString(StandardCharsets.UTF_8);
        reset();
        return text;
    }
}
