package dev.tenon.platform.core.text;

/// A bounded cache from a word to its tokens: one entry a slot, a newer word displaces an older one.
///
/// Safe for any thread without locks: entries are immutable, and a lost write costs only time.
final class WordCache {
    /// Longer words are not kept.
    private static final int MAX_CHARS = 48;

    private record Entry(String word, int hash, int[] ids) {}

    private final Entry[] entries = new Entry[1 << 13];

    /// Encodes a word that the cache has not got.
    interface WordEncoder {
        /// Appends the tokens of a word to the list that [#encode] was given.
        ///
        /// @param from first char
        /// @param to char after the last
        void encodeWord(int from, int to);
    }

    /// Appends the tokens of a word of a text: those that are kept, or else what the encoder makes.
    ///
    /// @param text any text
    /// @param from first char
    /// @param to char after the last
    /// @param out receives the tokens
    /// @param encoder appends to `out`
    void encode(String text, int from, int to, IntList out, WordEncoder encoder) {
        if (to - from > MAX_CHARS) {
            encoder.encodeWord(from, to);
            return;
        }
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + text.charAt(i);
        }
        Entry entry = entries[slot(hash)];
        if (entry != null
                && entry.hash == hash
                && entry.word.length() == to - from
                && entry.word.regionMatches(0, text, from, to - from)) {
            out.addAll(entry.ids);
            return;
        }
        int before = out.size();
        encoder.encodeWord(from, to);
        entries[slot(hash)] = new Entry(text.substring(from, to), hash, out.copyFrom(before));
    }

    private int slot(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed >>> (32 - 13);
    }
}
