package dev.tenon.platform.cli.chat;

/// Messages of several lines: between `"""` and `"""`, or with a backslash at the end of each line
/// but the last.
final class MultiLine {
    private static final String QUOTE = "\"\"\"";

    private MultiLine() {}

    /// {@return whether more lines belong to a message}
    ///
    /// @param typed its lines so far
    static boolean incomplete(String typed) {
        if (quoted(typed)) {
            String rest = typed.strip();
            return rest.length() < 2 * QUOTE.length() || !rest.endsWith(QUOTE);
        }
        return typed.endsWith("\\");
    }

    /// {@return whether a message is quoted: then it is no command}
    ///
    /// @param typed its lines
    static boolean quoted(String typed) {
        return typed.stripLeading().startsWith(QUOTE);
    }

    /// {@return the message without quotes and backslashes}
    ///
    /// @param typed its lines
    static String text(String typed) {
        String text = typed.strip();
        if (!quoted(typed)) {
            return text.replace("\\\n", "\n");
        }
        int end = incomplete(typed) ? text.length() : text.length() - QUOTE.length();
        return text.substring(QUOTE.length(), end).strip();
    }
}
