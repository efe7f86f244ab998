package dev.tenon.platform.cli.terminal;

import dev.tenon.api.error.OneLine;
import java.io.FilterWriter;
import java.io.IOException;
import java.io.Writer;

/// Text for a terminal, which would obey escape sequences in it: names of files and what models say are anybody's.
final class SafeWriter extends FilterWriter {
    SafeWriter(Writer out) {
        super(out);
    }

    @Override
    public void write(int c) throws IOException {
        write(Character.toString(c), 0, 1);
    }

    @Override
    public void write(char[] chars, int offset, int length) throws IOException {
        out.write(OneLine.lines(new String(chars, offset, length)));
    }

    @Override
    public void write(String text, int offset, int length) throws IOException {
        out.write(OneLine.lines(text.substring(offset, offset + length)));
    }
}
