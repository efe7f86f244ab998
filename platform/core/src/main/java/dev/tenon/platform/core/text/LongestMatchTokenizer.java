package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import java.nio.charset.StandardCharsets;

/// The longest token that the next bytes begin with, as RWKV's world vocabulary is used
/// (`tokenizer.ggml.model` = `rwkv`).
///
/// Tokens are bytes; the file writes them as ASCII with `\t`, `\n`, `\r`, `\x0a` and, for any other character,
/// a backslash before it.
final class LongestMatchTokenizer extends VocabularyTokenizer {
    private final String[] texts; // a char for each byte
    private final TokenTable table;
    private final int[] longest = new int[1 << 16]; // bytes of the longest token that begins with two bytes

    /// Reads a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    static LongestMatchTokenizer of(GgufMetadata metadata) {
        return new LongestMatchTokenizer(new Vocabulary(metadata, new Vocabulary.Defaults(false, -1, false, -1)));
    }

    private LongestMatchTokenizer(Vocabulary vocabulary) {
        super(vocabulary);
        texts = new String[vocabulary.size()];
        for (int id = 0; id < texts.length; id++) {
            texts[id] = vocabulary.isText(id) ? unescaped(vocabulary.text(id), id) : "";
            if (texts[id].length() > 1) {
                int key = key(texts[id], 0);
                longest[key] = Math.max(longest[key], texts[id].length());
            }
        }
        table = new TokenTable(texts);
    }

    private static int key(String bytes, int at) {
        return bytes.charAt(at) << 8 | bytes.charAt(at + 1);
    }

    private String unescaped(String text, int id) {
        String escaped = latin(text);
        StringBuilder bytes = new StringBuilder(escaped.length());
        for (int i = 0; i < escaped.length(); i++) {
            char c = escaped.charAt(i);
            if (c == '\\' && i + 1 < escaped.length()) {
                c = escaped.charAt(++i);
                if (c == 'x') {
                    c = hex(escaped, i + 1, id);
                    i += 2;
                } else {
                    c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
                }
            }
            bytes.append(c);
        }
        return bytes.toString();
    }

    private char hex(String escaped, int at, int id) {
        int high = at + 1 < escaped.length() ? Character.digit(escaped.charAt(at), 16) : -1;
        int low = at + 1 < escaped.length() ? Character.digit(escaped.charAt(at + 1), 16) : -1;
        if (high < 0 || low < 0) {
            throw Vocabulary.broken("Token " + id + " of " + vocabulary().source() + " is \""
                    + vocabulary().text(id) + "\"; expected two hexadecimal digits after each \\x");
        }
        return (char) (high << 4 | low);
    }

    /// {@return the UTF-8 bytes of a text, a char for each}
    private static String latin(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    @Override
    Encoder encoder(String text, IntList out) {
        return (from, to) -> {
            String bytes = latin(text.substring(from, to));
            for (int at = 0; at < bytes.length(); ) {
                int id = match(bytes, at);
                at += id < 0 ? 1 : texts[id].length();
                out.add(id < 0 ? unknown(bytes.charAt(at - 1)) : id);
            }
        };
    }

    /// {@return the longest token that stands at a place, or -1}
    private int match(String bytes, int at) {
        int most = at + 1 < bytes.length() ? Math.max(1, longest[key(bytes, at)]) : 1;
        int hash = 0;
        int found = -1;
        for (int end = at + 1; end <= Math.min(bytes.length(), at + most); end++) {
            hash = 31 * hash + bytes.charAt(end - 1);
            int id = table.find(bytes, at, end, hash);
            found = id >= 0 ? id : found;
        }
        return found;
    }

    private int unknown(int value) {
        if (vocabulary().unknown() < 0) {
            throw Vocabulary.broken("The vocabulary of " + vocabulary().source() + " has no token for the byte " + value
                    + " and none for what is unknown; expected a token for every byte");
        }
        return vocabulary().unknown();
    }

    @Override
    byte[] textBytes(int id) {
        return texts[id].getBytes(StandardCharsets.ISO_8859_1);
    }

    @Override
    boolean dropsSpace() {
        return false;
    }
}
