package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/// The normalisation that a SentencePiece model carries: strings and what replaces them, in general Unicode's
/// NFKC with the white space made blanks. Immutable.
///
/// ```
/// bytes 0       4                4 + n          end
///       | n:u32 | trie: u32[n/4] | replacements, each ended by a 0 byte |
/// ```
///
/// The trie is a double array over bytes. Of a unit, bits 0 to 7 and 31 are its label, bit 8 says that a value
/// follows, and bits 10 to 30 are the distance to its children, in units, or in blocks of 256 where bit 9 is
/// set. A value is the place of the replacement. Source: Aoe 1989; the layout is that of Darts-clone.
final class CharsMap {
    private static final CharsMap NONE = new CharsMap("", new int[0], new byte[0]);

    private final String source;
    private final int[] units;
    private final byte[] replacements;

    private CharsMap(String source, int[] units, byte[] replacements) {
        this.source = source;
        this.units = units;
        this.replacements = replacements;
    }

    /// Reads the map of a file.
    ///
    /// @param key array of bytes; a missing or empty one changes nothing
    /// @throws dev.tenon.api.error.ModelFormatException if its parts do not fit
    static CharsMap of(GgufMetadata metadata, String key) {
        long[] bytes = metadata.integers(key).orElse(new long[0]);
        if (bytes.length == 0) {
            return NONE;
        }
        String source = "Metadata key " + key + " in " + metadata.source();
        long size = bytes.length < 4 ? -1 : unit(bytes, 0) & 0xffffffffL;
        if (size < 4 || size % 4 != 0 || size > bytes.length - 4) {
            throw Vocabulary.broken(source + " has " + bytes.length + " bytes, of which " + size
                    + " are the trie; expected more bytes");
        }
        int[] units = new int[(int) size / 4];
        for (int i = 0; i < units.length; i++) {
            units[i] = unit(bytes, 4 + 4 * i);
        }
        byte[] replacements = new byte[bytes.length - 4 - (int) size];
        for (int i = 0; i < replacements.length; i++) {
            replacements[i] = (byte) bytes[4 + (int) size + i];
        }
        return new CharsMap(source, units, replacements);
    }

    private static int unit(long[] bytes, int at) {
        return (int) (bytes[at] & 0xff
                | (bytes[at + 1] & 0xff) << 8
                | (bytes[at + 2] & 0xff) << 16
                | (bytes[at + 3] & 0xff) << 24);
    }

    /// {@return the text with the longest string of the map replaced, from the start on}
    ///
    /// @param text text without lone surrogates
    /// @throws dev.tenon.api.error.ModelFormatException if the map names places that it does not have
    String apply(String text) {
        if (units.length == 0) {
            return text;
        }
        byte[] in = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream(in.length + 16);
        for (int at = 0; at < in.length; ) {
            int end = replace(in, at, out);
            if (end == at) {
                do {
                    out.write(in[end++]);
                } while (end < in.length && (in[end] & 0xc0) == 0x80); // a whole character
            }
            at = end;
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    /// Writes what replaces the longest string that begins at a place.
    ///
    /// @return where it ends; `from` if there is none
    private int replace(byte[] in, int from, ByteArrayOutputStream out) {
        int node = children(0, 0);
        int end = from;
        int value = 0;
        for (int i = from; i < in.length; i++) {
            int at = node ^ in[i] & 0xff;
            if ((unitAt(at) & 0x800000ff) != (in[i] & 0xff)) {
                break;
            }
            node = children(at, at);
            if ((unitAt(at) >>> 8 & 1) != 0) {
                value = unitAt(node) & 0x7fffffff;
                end = i + 1;
            }
        }
        if (end > from) {
            int stop = value;
            while (stop < replacements.length && replacements[stop] != 0) {
                stop++;
            }
            if (stop >= replacements.length) {
                throw Vocabulary.broken(source + " names byte " + value + " of its replacements, which are "
                        + replacements.length + " bytes; expected one that a 0 byte ends");
            }
            out.write(replacements, value, stop - value);
        }
        return end;
    }

    private int children(int node, int at) {
        int unit = unitAt(at);
        return node ^ unit >>> 10 << ((unit & 1 << 9) >>> 6);
    }

    private int unitAt(int at) {
        if (at < 0 || at >= units.length) {
            throw Vocabulary.broken(source + " names unit " + at + " of its trie, which has " + units.length
                    + "; expected a lower one");
        }
        return units[at];
    }
}
