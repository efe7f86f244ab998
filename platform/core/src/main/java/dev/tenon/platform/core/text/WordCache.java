package dev.tenon.platform.core.text;

/// A bounded cache from a word to its tokens: one entry a slot, a newer word displaces an older one.
///
/// Safe for any thread without locks: entries are immutable, and a lost write costs only time.
final class WordCache {
    /// Longer words are not kept.
    static final int MAX_CHARS = 48;

    private record Entry(String word, int hash, int[] ids) {}

    private final Entry[] entries = new Entry[1 << 13];

    /// Finds the tokens of a part of a text.
    ///
    /// @param text any text
    /// @param from first char
    /// @param to char after the last
    /// @param hash [String#hashCode()] of the part
    /// @return the tokens, not to be changed; null if the cache has not got them
    int[] find(String text, int from, int to, int hash) {
        Entry entry = entries[slot(hash)];
        return entry != null
                        && entry.hash == hash
                        && entry.word.length() == to - from
                        && entry.word.regionMatches(0, text, from, to - from)
                ? entry.ids
                : null;
    }

    /// Keeps the tokens of a word.
    ///
    /// @param word the word, at most [#MAX_CHARS] chars
    /// @param hash [String#hashCode()] of it
    /// @param ids its tokens; owned by the cache from now on
    void put(String word, int hash, int[] ids) {
        entries[slot(hash)] = new Entry(word, hash, ids);
    }

    private int slot(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed >>> (32 - 13);
    }
}
