package dev.tenon.platform.core.text;

import java.io.ByteArrayOutputStream;

/// The alphabet of byte-level BPE, which writes every byte as one printable char.
///
/// Bytes 33-126, 161-172 and 174-255 stand for themselves; the others, in ascending order, are
/// U+0100, U+0101 and so on (Radford et al. 2019, GPT-2): a blank is `Ġ`, a line feed `Ċ`.
final class ByteAlphabet {
    private static final char[] CHARS = new char[256];
    private static final short[] BYTES = new short[512];

    static {
        java.util.Arrays.fill(BYTES, (short) -1);
        int next = 256;
        for (int b = 0; b < 256; b++) {
            boolean printable = b >= 33 && b <= 126 || b >= 161 && b <= 172 || b >= 174;
            CHARS[b] = (char) (printable ? b : next++);
            BYTES[CHARS[b]] = (short) b;
        }
    }

    private ByteAlphabet() {}

    /// {@return the char of a byte}
    static char charOf(byte b) {
        return CHARS[b & 0xff];
    }

    /// {@return the byte of a char, 0 to 255, or -1 if the char is not of the alphabet}
    static int byteOf(char c) {
        return c < BYTES.length ? BYTES[c] : -1;
    }

    /// Turns a token's text into the bytes that it stands for. What is not of the alphabet stands for its
    /// own UTF-8.
    ///
    /// @param text token text
    /// @return the bytes
    static byte[] decode(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); ) {
            int b = byteOf(text.charAt(i));
            if (b >= 0) {
                bytes.write(b);
                i++;
            } else {
                int end = i + Character.charCount(text.codePointAt(i));
                bytes.writeBytes(text.substring(i, end).getBytes(java.nio.charset.StandardCharsets.UTF_8));
                i = end;
            }
        }
        return bytes.toByteArray();
    }
}
