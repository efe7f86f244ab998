package dev.tenon.backend.nv.tegra.command;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// A growing list of command words. For one thread.
///
/// ```
/// bit 31 29 | 28    16 | 15     13  | 12 | 11            0
///     op    | count    | subchannel | 0  | method address / 4      op 1: the method address grows with each word
/// ```
public final class PushBuffer {
    /// Most words that one entry of a ring can point at.
    public static final int MAX_WORDS = (1 << 21) - 1;

    private static final int MAX_COUNT = 8191;

    private int[] words = new int[64];
    private int size;

    /// Appends a method header and its data.
    ///
    /// @param subchannel 0 to 7
    /// @param method address of the first method in bytes
    /// @param data one word for each method
    /// @return index of the first word of the data
    public int incrementing(int subchannel, int method, int... data) {
        if (subchannel < 0 || subchannel > 7 || method < 0 || method > 0x3FFC || method % 4 != 0) {
            throw new IllegalArgumentException("method 0x" + Integer.toHexString(method) + " on " + subchannel);
        }
        if (data.length < 1 || data.length > MAX_COUNT) {
            throw new IllegalArgumentException(data.length + " data words; expected 1 to " + MAX_COUNT);
        }
        append(1 << 29 | data.length << 16 | subchannel << 13 | method >> 2);
        int first = size;
        for (int word : data) {
            append(word);
        }
        return first;
    }

    private void append(int word) {
        if (size == words.length) {
            words = Arrays.copyOf(words, 2 * size);
        }
        words[size++] = word;
    }

    /// Appends the words of another list.
    ///
    /// @param other the list
    /// @return index of its first word in this one
    public int append(PushBuffer other) {
        int first = size;
        for (int i = 0; i < other.size; i++) {
            append(other.words[i]);
        }
        return first;
    }

    /// Changes a word.
    ///
    /// @param index which
    /// @param word new value
    public void patch(int index, int word) {
        words[java.util.Objects.checkIndex(index, size)] = word;
    }

    /// {@return a word}
    ///
    /// @param index which
    public int word(int index) {
        return words[java.util.Objects.checkIndex(index, size)];
    }

    /// {@return number of words}
    public int size() {
        return size;
    }

    /// Removes all words.
    public void clear() {
        size = 0;
    }

    /// Writes the words.
    ///
    /// @param target memory
    /// @param offsetBytes where in it
    public void copyTo(MemorySegment target, long offsetBytes) {
        MemorySegment.copy(words, 0, target, ValueLayout.JAVA_INT, offsetBytes, size);
    }

    /// {@return a copy of the words}
    public int[] toArray() {
        return Arrays.copyOf(words, size);
    }
}
