package dev.tenon.api.text;

import java.util.BitSet;
import java.util.stream.IntStream;

/// A text of which characters are the client's, from outside: control tokens written out there
/// are text. Given to a [ChatTemplate] and made by it. Immutable, though the array is not copied.
///
/// @param text the characters
/// @param client start and end, in turn, of what is the client's: indices of chars, strictly
///     ascending
public record TemplateText(String text, int[] client) {
    /// Checks the indices.
    ///
    /// @throws IllegalArgumentException if there is an odd number of them, or they are not
    ///     strictly ascending within the text
    public TemplateText {
        int last = -1;
        for (int index : client) {
            if (index <= last || index > text.length()) {
                throw new IllegalArgumentException("client: index " + index + " after " + last + " in a text of "
                        + text.length() + " chars; expected them strictly ascending");
            }
            last = index;
        }
        if (client.length % 2 != 0) {
            throw new IllegalArgumentException("client: an end is missing; expected starts and ends in turn");
        }
    }

    /// {@return a text that is all the client's}
    ///
    /// @param text the characters
    public static TemplateText ofClient(String text) {
        return new TemplateText(text, text.isEmpty() ? new int[0] : new int[] {0, text.length()});
    }

    /// {@return a text with the characters of the client's that a set names}
    ///
    /// @param text the characters
    /// @param client indices of chars, each less than the text's length
    public static TemplateText of(String text, BitSet client) {
        IntStream.Builder ranges = IntStream.builder();
        for (int from = client.nextSetBit(0); from >= 0; from = client.nextSetBit(client.nextClearBit(from))) {
            ranges.add(from).add(client.nextClearBit(from));
        }
        return new TemplateText(text, ranges.build().toArray());
    }

    /// {@return whether any of it is the client's}
    public boolean hasClient() {
        return client.length > 0;
    }

    @Override
    public String toString() {
        return text;
    }
}
