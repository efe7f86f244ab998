package dev.tenon.platform.server.anthropic;

import java.util.regex.Pattern;

/// Removes the line by which a client tells a service about itself at the start of its system message, such as
/// `x-anthropic-billing-header: cc_version=2.1.37; cch=1f3a5;`. Its values change with each request; in the prompt they
/// would keep it from sharing computed tokens with the one before.
final class CallerHeader {
    /// The name of a header of one's own, then pairs that end in semicolons, alone in the line.
    private static final Pattern LINE =
            Pattern.compile("^x-[a-z0-9-]+:(?:[ \\t]*[A-Za-z0-9_.-]+=[^;\\r\\n]*;)+[ \\t]*(?:[\\r\\n]+|$)");

    private CallerHeader() {}

    /// {@return a text without such a line at its start}
    ///
    /// @param text the first text of a system message
    static String removed(String text) {
        return LINE.matcher(text).replaceFirst("");
    }
}
