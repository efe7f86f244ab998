package dev.tenon.api.text;

import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.osgi.annotation.versioning.ConsumerType;

/// Turns text into token ids and back. Immutable and safe for any thread.
@ConsumerType
public interface Tokenizer {
    /// {@return number of tokens; ids are 0 to this - 1}
    int vocabularySize();

    /// Encodes text.
    ///
    /// @param text any text
    /// @param addSpecial whether to add the tokens that the vocabulary asks for at the start and the end
    ///     (BOS, EOS)
    /// @param parseSpecial whether control tokens written out in the text (such as `<|im_start|>`)
    ///     become that one token; false for text from users who must not be able to forge them
    /// @return token ids
    int[] encode(String text, boolean addSpecial, boolean parseSpecial);

    /// Encodes text that a template wrote around texts of users, who must not be able to forge control tokens.
    ///
    /// Control tokens written out in the text become that one token, but for those that span a border. All else is
    /// encoded as if the text were one. A tokenizer that does not implement this encodes the parts between borders
    /// one by one, so that its tokens differ at them.
    ///
    /// @param text any text
    /// @param addSpecial whether to add the tokens that the vocabulary asks for at the start and the end
    /// @param borders ascending indices of chars: control tokens may end before one, or begin at one
    /// @return token ids
    default int[] encode(String text, boolean addSpecial, int[] borders) {
        if (borders.length == 0) {
            return encode(text, addSpecial, true);
        }
        int[] added = encode("", addSpecial, false);
        int before = added.length > 0 && addsBos() ? 1 : 0;
        IntStream.Builder ids = IntStream.builder();
        IntStream.of(added).limit(before).forEach(ids::add);
        int from = 0;
        for (int i = 0; i <= borders.length; i++) {
            int to = i < borders.length ? borders[i] : text.length();
            IntStream.of(encode(text.substring(from, to), false, true)).forEach(ids::add);
            from = to;
        }
        IntStream.of(added).skip(before).forEach(ids::add);
        return ids.build().toArray();
    }

    /// {@return the bytes that a token stands for, as it appears inside a text; control tokens give no
    /// bytes}
    ///
    /// @param id token id
    /// @throws IllegalArgumentException if the id is out of range
    byte[] bytes(int id);

    /// {@return the token's text in the vocabulary, control tokens included, such as `<|im_end|>`}
    ///
    /// @param id token id
    /// @throws IllegalArgumentException if the id is out of range
    String piece(int id);

    /// {@return a new decoder for one stream of tokens}
    StreamDecoder decoder();

    /// {@return whether a token ends a generation (end of text, end of turn)}
    ///
    /// @param id token id
    boolean isEndOfGeneration(int id);

    /// {@return whether a token is a control token, which has no text of its own}
    ///
    /// @param id token id
    boolean isControl(int id);

    /// {@return the token that begins a text, if the vocabulary has one}
    OptionalInt bos();

    /// {@return the token that ends a text, if the vocabulary has one}
    OptionalInt eos();

    /// {@return whether `encode` adds BOS when asked for special tokens}
    boolean addsBos();

    /// Decodes a whole sequence. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// @param ids token ids
    /// @return the text
    default String decode(int[] ids) {
        StreamDecoder decoder = decoder();
        StringBuilder text = new StringBuilder();
        for (int id : ids) {
            text.append(decoder.next(id));
        }
        return text.append(decoder.finish()).toString();
    }
}
