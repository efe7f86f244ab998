package dev.tenon.api.error;

import java.util.Locale;

/// Makes texts harmless to show that may quote anything: a file's names and values, or a compiler's log. Characters
/// that do something else than stand for themselves become escapes such as `\\u001b`: control characters, and those
/// that change the direction of the text around them.
public final class OneLine {
    private static final int MOST = 4000;
    private static final int END = 1000;

    private OneLine() {}

    /// {@return the text on one line, without its middle if it has more than 4,000 characters}
    ///
    /// @param text any text
    public static String of(String text) {
        String whole = text.length() <= MOST
                ? text
                : text.substring(0, MOST - END) + " ... " + text.substring(text.length() - END);
        return escaped(whole, false);
    }

    /// {@return the text in full, with its line ends and tabs}
    ///
    /// @param text any text
    public static String lines(String text) {
        return escaped(text, true);
    }

    private static String escaped(String text, boolean lines) {
        if (text.chars().noneMatch(OneLine::isActive)) {
            return text;
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean end = c == '\n' || c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n';
            if (!isActive(c) || lines && (end || c == '\t')) {
                out.append(c);
            } else if (c == '\n') {
                out.append("\\n");
            } else {
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            }
        }
        return out.toString();
    }

    private static boolean isActive(int c) {
        return Character.isISOControl(c)
                || c >= 0x2028 && c <= 0x202e // separators of lines and paragraphs, embeddings and overrides
                || c >= 0x2066 && c <= 0x2069; // isolates
    }
}
