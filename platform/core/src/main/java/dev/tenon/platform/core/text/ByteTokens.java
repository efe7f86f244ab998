package dev.tenon.platform.core.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/// The tokens of single bytes, written `<0x0A>`, for characters that have none of their own. Immutable.
final class ByteTokens {
    private final Vocabulary vocabulary;
    private final int[] ids = new int[256]; // -1 for a byte without token

    /// Finds the byte tokens of a vocabulary.
    ///
    /// @throws dev.tenon.api.error.ModelFormatException if one is not written as such
    ByteTokens(Vocabulary vocabulary) {
        this.vocabulary = vocabulary;
        Arrays.fill(ids, -1);
        for (int id = 0; id < vocabulary.size(); id++) {
            if (vocabulary.type(id) == Vocabulary.BYTE) {
                ids[value(id) & 0xff] = id;
            }
        }
    }

    /// {@return the byte that a token of type byte stands for}
    byte value(int id) {
        String text = vocabulary.text(id);
        int high = text.length() == 6 ? Character.digit(text.charAt(3), 16) : -1;
        int low = text.length() == 6 ? Character.digit(text.charAt(4), 16) : -1;
        if (high < 0 || low < 0 || !text.startsWith("<0x") || text.charAt(5) != '>') {
            throw Vocabulary.broken("Token " + id + " of " + vocabulary.source()
                    + " is of type byte, but its text is \"" + text + "\"; expected a text such as <0x0A>");
        }
        return (byte) (high << 4 | low);
    }

    /// Adds the byte tokens of a character, or the unknown token if there is none for one of its bytes.
    ///
    /// @param character without a token of its own
    /// @param out takes the tokens
    /// @throws dev.tenon.api.error.ModelFormatException if there is no unknown token either
    void add(String character, IntList out) {
        byte[] bytes = character.getBytes(StandardCharsets.UTF_8);
        boolean all = true;
        for (byte b : bytes) {
            all &= ids[b & 0xff] >= 0;
        }
        if (all) {
            for (byte b : bytes) {
                out.add(ids[b & 0xff]);
            }
        } else if (vocabulary.unknown() >= 0) {
            out.add(vocabulary.unknown());
        } else {
            throw Vocabulary.broken("The vocabulary of " + vocabulary.source() + " has no token for U+"
                    + Integer.toHexString(character.codePointAt(0)).toUpperCase(Locale.ROOT)
                    + ", none for its bytes and none for what is unknown");
        }
    }
}
