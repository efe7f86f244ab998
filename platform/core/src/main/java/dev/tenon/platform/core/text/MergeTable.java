package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The merges of byte-level BPE: a hash table from two neighbouring symbols to the rank of their merge and
/// its result.
///
/// Symbols are token ids. A merge may name a text that is not a token of ordinary text: that text
/// gets a symbol of its own, from the vocabulary's size on, and ends as single bytes if nothing
/// merges it further. Immutable.
final class MergeTable {
    private static final long FREE = -1;

    private final long[] pairs; // left symbol << 32 | right symbol
    private final long[] merges; // rank << 32 | result
    private final int shift;
    private final int vocabularySize;
    private final List<String> extraTexts = new ArrayList<>();
    private final int[] byteSymbols = new int[256];

    /// Reads the merges.
    ///
    /// @param metadata metadata with `tokenizer.ggml.merges`
    /// @param vocabulary the tokens
    /// @throws dev.tenon.api.error.ModelFormatException if they are missing or not of the form `left right`
    MergeTable(GgufMetadata metadata, Vocabulary vocabulary) {
        String key = "tokenizer.ggml.merges";
        String[] lines = metadata.strings(key).orElse(null);
        if (lines == null) {
            throw metadata.missing(key);
        }
        vocabularySize = vocabulary.size();
        int bits = 33 - Integer.numberOfLeadingZeros(Math.max(8, lines.length + lines.length / 4));
        pairs = new long[1 << (bits - 1)];
        merges = new long[pairs.length];
        shift = 65 - bits;
        Arrays.fill(pairs, FREE);
        Map<String, Integer> extra = new HashMap<>();
        for (int b = 0; b < 256; b++) {
            String text = String.valueOf(ByteAlphabet.charOf((byte) b));
            byteSymbols[b] = symbol(vocabulary.table().find(text), text, vocabulary, extra);
        }
        for (int rank = 0; rank < lines.length; rank++) {
            String line = lines[rank];
            int gap = line.indexOf(' ', 1);
            if (gap < 0 || gap == line.length() - 1) {
                throw Vocabulary.broken("Metadata key " + key + " in " + metadata.source() + " has \"" + line
                        + "\" at index " + rank + "; expected two texts with a blank between them");
            }
            add(line, gap, rank, vocabulary, extra);
        }
    }

    private void add(String line, int gap, int rank, Vocabulary vocabulary, Map<String, Integer> extra) {
        int hash = 0;
        for (int i = 0; i < gap; i++) {
            hash = 31 * hash + line.charAt(i);
        }
        int leftHash = hash;
        int rightHash = 0;
        for (int i = gap + 1; i < line.length(); i++) {
            char c = line.charAt(i);
            rightHash = 31 * rightHash + c;
            hash = 31 * hash + c;
        }
        TokenTable table = vocabulary.table();
        int left = table.find(line, 0, gap, leftHash);
        if (left < 0 || !vocabulary.isText(left)) {
            left = symbol(left, line.substring(0, gap), vocabulary, extra);
        }
        int right = table.find(line, gap + 1, line.length(), rightHash);
        if (right < 0 || !vocabulary.isText(right)) {
            right = symbol(right, line.substring(gap + 1), vocabulary, extra);
        }
        int result = table.findWithout(line, gap, hash);
        if (result < 0 || !vocabulary.isText(result)) {
            result = symbol(result, line.substring(0, gap) + line.substring(gap + 1), vocabulary, extra);
        }
        long pair = (long) left << 32 | right;
        int at = slot(pair);
        while (pairs[at] != FREE && pairs[at] != pair) {
            at = at + 1 & pairs.length - 1;
        }
        if (pairs[at] == FREE) {
            pairs[at] = pair;
            merges[at] = (long) rank << 32 | result;
        }
    }

    private int symbol(int id, String text, Vocabulary vocabulary, Map<String, Integer> extra) {
        if (id >= 0 && vocabulary.isText(id)) {
            return id;
        }
        Integer known = extra.get(text);
        if (known == null) {
            known = vocabularySize + extraTexts.size();
            extra.put(text, known);
            extraTexts.add(text);
        }
        return known;
    }

    /// {@return the merge of two symbols, rank << 32 | result, or -1 if there is none}
    ///
    /// @param left left symbol
    /// @param right right symbol
    long find(int left, int right) {
        long pair = (long) left << 32 | right;
        for (int at = slot(pair); pairs[at] != FREE; at = at + 1 & pairs.length - 1) {
            if (pairs[at] == pair) {
                return merges[at];
            }
        }
        return -1;
    }

    /// {@return the symbol of a byte; not below the vocabulary's size if the byte has no token}
    ///
    /// @param b the byte
    int byteSymbol(byte b) {
        return byteSymbols[b & 0xff];
    }

    /// {@return the text of a symbol that is not a token}
    ///
    /// @param symbol a symbol from the vocabulary's size on
    String extraText(int symbol) {
        return extraTexts.get(symbol - vocabularySize);
    }

    private int slot(long pair) {
        return (int) ((pair * 0x9E3779B97F4A7C15L ^ pair >>> 29) * 0xBF58476D1CE4E5B9L >>> shift);
    }
}
