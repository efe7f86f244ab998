package dev.tenon.platform.cli.chat;

import java.io.IOException;

/// Where the messages of a chat come from.
interface ChatInput extends AutoCloseable {
    /// {@return what was typed, which may have several lines (see [MultiLine]), or null at the end}
    /// @throws IOException if reading fails
    String read() throws IOException;

    /// Lets the user change a text.
    ///
    /// @param text the text
    /// @return what was typed, or null if that was given up or nobody can be asked
    String edit(String text);

    /// {@return columns of the terminal; 0 where there is none}
    int width();

    @Override
    void close() throws IOException;
}
