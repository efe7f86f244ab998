package dev.tenon.platform.cli.chat;

import java.io.IOException;

/// Where the lines of a chat come from.
interface ChatInput extends AutoCloseable {
    /// {@return the next line, or null at the end}
    /// @throws IOException if reading fails
    String read() throws IOException;

    @Override
    void close() throws IOException;
}
