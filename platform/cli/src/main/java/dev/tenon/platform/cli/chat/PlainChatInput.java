package dev.tenon.platform.cli.chat;

import dev.tenon.platform.cli.options.TextInput;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/// Lines of a stream that is no terminal.
final class PlainChatInput implements ChatInput {
    private final InputStream in;
    private int line;

    PlainChatInput(InputStream in) {
        this.in = new BufferedInputStream(in);
    }

    @Override
    public String read() throws IOException {
        String text = line();
        while (text != null && MultiLine.incomplete(text)) {
            String more = line();
            if (more == null) {
                break;
            }
            text += "\n" + more;
        }
        return text;
    }

    private String line() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int b = in.read();
        if (b < 0) {
            return null;
        }
        line++;
        while (b >= 0 && b != '\n') {
            bytes.write(b);
            b = in.read();
        }
        String text = TextInput.decode(bytes.toByteArray(), "line " + line + " of standard input");
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }

    @Override
    public String edit(String text) {
        return null;
    }

    @Override
    public int width() {
        return 0;
    }

    @Override
    public void close() {
        // Standard input belongs to the process.
    }
}
