package dev.tenon.platform.core.text.words;

/// Cuts a text into words; tokens never cross their borders. Immutable and safe for any thread.
public interface PreTokenizer {
    /// Cuts a part of a text. The words together are the whole part, in order.
    ///
    /// @param text text without lone surrogates
    /// @param from first char
    /// @param to char after the last; for look-ahead the text ends here
    /// @param words takes the words
    void split(String text, int from, int to, Words words);

    /// Takes words.
    @FunctionalInterface
    interface Words {
        /// Takes the next word.
        ///
        /// @param from first char
        /// @param to char after the last; greater than `from`
        void word(int from, int to);
    }

    /// {@return a pre-tokenizer that cuts each word of this one further}
    ///
    /// @param second what cuts further
    default PreTokenizer then(PreTokenizer second) {
        return (text, from, to, words) -> split(text, from, to, (a, b) -> second.split(text, a, b, words));
    }
}
