package dev.tenon.platform.core.text;

/// A hash table from token text to id which can be asked for a part of a string without copying it.
///
/// The hash is that of [String#hashCode()], so that callers can compute it piece by piece. Immutable after
/// its making.
final class TokenTable {
    private final String[] texts;
    private final int[] slots; // id + 1, 0 for a free slot
    private final int[] hashes; // hash of the text in the slot
    private final int mask;

    /// Indexes all texts but empty ones; of several with one text the first.
    ///
    /// @param texts token texts by id; borrowed and kept
    TokenTable(String[] texts) {
        this.texts = texts;
        int capacity = Integer.highestOneBit(Math.max(8, texts.length + texts.length / 2)) << 1;
        slots = new int[capacity];
        hashes = new int[capacity];
        mask = capacity - 1;
        for (int id = 0; id < texts.length; id++) {
            String text = texts[id];
            if (text.isEmpty()) {
                continue;
            }
            int hash = text.hashCode();
            int at = spread(hash) & mask;
            while (slots[at] != 0 && !(hashes[at] == hash && texts[slots[at] - 1].equals(text))) {
                at = (at + 1) & mask;
            }
            if (slots[at] == 0) {
                slots[at] = id + 1;
                hashes[at] = hash;
            }
        }
    }

    /// {@return the id of a text, or -1}
    int find(String text) {
        return find(text, 0, text.length(), text.hashCode());
    }

    /// Finds a part of a text.
    ///
    /// @param text any text
    /// @param from first char
    /// @param to char after the last
    /// @param hash [String#hashCode()] of the part
    /// @return the id, or -1
    int find(String text, int from, int to, int hash) {
        for (int at = spread(hash) & mask; slots[at] != 0; at = (at + 1) & mask) {
            if (hashes[at] == hash) {
                String found = texts[slots[at] - 1];
                if (found.length() == to - from && found.regionMatches(0, text, from, to - from)) {
                    return slots[at] - 1;
                }
            }
        }
        return -1;
    }

    /// Finds the text that results when one char is taken out: a merge `left right` without its blank.
    ///
    /// @param text any text
    /// @param gap index of the char to leave out
    /// @param hash [String#hashCode()] of the rest
    /// @return the id, or -1
    int findWithout(String text, int gap, int hash) {
        int right = text.length() - gap - 1;
        for (int at = spread(hash) & mask; slots[at] != 0; at = (at + 1) & mask) {
            if (hashes[at] == hash) {
                String found = texts[slots[at] - 1];
                if (found.length() == gap + right
                        && found.regionMatches(0, text, 0, gap)
                        && found.regionMatches(gap, text, gap + 1, right)) {
                    return slots[at] - 1;
                }
            }
        }
        return -1;
    }

    /// Finds the text whose chars are those that byte-level BPE writes for bytes.
    ///
    /// @param bytes the bytes
    /// @param n how many of them
    /// @return the id, or -1
    int findBytes(byte[] bytes, int n) {
        int hash = 0;
        for (int i = 0; i < n; i++) {
            hash = 31 * hash + ByteAlphabet.charOf(bytes[i]);
        }
        for (int at = spread(hash) & mask; slots[at] != 0; at = (at + 1) & mask) {
            if (hashes[at] == hash && isBytes(texts[slots[at] - 1], bytes, n)) {
                return slots[at] - 1;
            }
        }
        return -1;
    }

    private static boolean isBytes(String text, byte[] bytes, int n) {
        if (text.length() != n) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            if (text.charAt(i) != ByteAlphabet.charOf(bytes[i])) {
                return false;
            }
        }
        return true;
    }

    private static int spread(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed ^ (mixed >>> 15);
    }
}
