package dev.tenon.platform.grammar.mask;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Which tokens are plain text of a JSON string: whole characters that are written as they are,
/// without `"`, `\` and control characters.
final class PlainTokens {
    /// Characters of one text that are told apart by number; longer ones count as this many and
    /// one.
    static final int LONGEST = 16;

    private PlainTokens() {}

    /// {@return how many characters a text has if it is plain, [#LONGEST] + 1 if it has more than
    ///     that many; -1 if it is not plain}
    static int length(byte[] bytes) {
        for (byte b : bytes) {
            if (b == '"' || b == '\\' || b >= 0 && b < ' ') {
                return -1;
            }
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return Math.min(text.codePointCount(0, text.length()), LONGEST + 1);
        } catch (CharacterCodingException e) {
            return -1; // a part of a character
        }
    }
}
