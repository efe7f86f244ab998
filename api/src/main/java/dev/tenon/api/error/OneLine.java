package dev.tenon.api.error;

import java.util.Locale;

/// Makes one line of a text that may quote anything: a file's names and values, or a compiler's log.
final class OneLine {
    private static final int MOST = 4000;
    private static final int END = 1000;

    private OneLine() {}

    /// {@return the text with control characters as escapes, and without its middle if it is very long}
    static String of(String text) {
        String whole = text.length() <= MOST
                ? text
                : text.substring(0, MOST - END) + " ... " + text.substring(text.length() - END);
        return whole.chars().noneMatch(Character::isISOControl) ? whole : escaped(whole);
    }

    private static String escaped(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n') {
                out.append("\\n");
            } else if (Character.isISOControl(c)) {
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
