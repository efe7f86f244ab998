package dev.tenon.platform.templates.values;

import java.util.Arrays;

/// Puts a [Text] together, up to the limit of one text. Not safe for several threads.
public final class TextBuilder {
    private final StringBuilder out = new StringBuilder();
    private int[] client = {};
    private int used;

    /// Adds characters of the template.
    TextBuilder append(String text) {
        out.append(text);
        return checked();
    }

    /// Adds a character of the template.
    TextBuilder append(char c) {
        out.append(c);
        return this;
    }

    /// Adds a text.
    public TextBuilder append(Text text) {
        return append(text, 0, text.toString().length());
    }

    /// Adds the chars of a text from one index to another.
    TextBuilder append(Text text, int from, int to) {
        int[] parts = text.client();
        int shift = out.length() - from;
        for (int i = 0; i < parts.length; i += 2) {
            mark(Math.max(parts[i], from) + shift, Math.min(parts[i + 1], to) + shift);
        }
        out.append(text.toString(), from, to);
        return checked();
    }

    /// Adds characters that stand for one of a text, and belong to whom that belongs.
    TextBuilder append(String characters, Text text, int index) {
        if (text.hasClient() && text.isClient(index)) {
            mark(out.length(), out.length() + characters.length());
        }
        return append(characters);
    }

    private void mark(int from, int to) {
        if (from >= to) {
            return;
        }
        if (used > 0 && client[used - 1] == from) {
            client[used - 1] = to;
            return;
        }
        client = used == client.length ? Arrays.copyOf(client, 4 + 2 * used) : client;
        client[used++] = from;
        client[used++] = to;
    }

    private TextBuilder checked() {
        Budget.check(out);
        return this;
    }

    int length() {
        return out.length();
    }

    /// {@return what was added}
    public Text toText() {
        return Text.of(out.toString(), Arrays.copyOf(client, used));
    }
}
