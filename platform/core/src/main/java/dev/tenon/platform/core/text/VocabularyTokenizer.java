package dev.tenon.platform.core.text;

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.OptionalInt;

/// What all kinds of tokenizers share: special tokens, BOS and EOS, decoding. Immutable and safe for any
/// thread.
abstract class VocabularyTokenizer implements Tokenizer {
    private static final byte[] NO_BYTES = {};

    private final Vocabulary vocabulary;

    VocabularyTokenizer(Vocabulary vocabulary) {
        this.vocabulary = vocabulary;
    }

    /// Encodes the parts of one text that are not special tokens; used by one thread. Every part
    /// stands at the start of the text or directly after a special token.
    interface Encoder {
        /// Encodes a part of the text.
        ///
        /// @param from first char
        /// @param to char after the last; greater than `from`
        void encode(int from, int to);
    }

    /// Makes an encoder for a text.
    ///
    /// @param text text without lone surrogates
    /// @param out takes the token ids
    /// @return the encoder
    abstract Encoder encoder(String text, IntList out);

    /// {@return the bytes of a token of ordinary text or of a single byte}
    ///
    /// @param id token id in range
    abstract byte[] textBytes(int id);

    /// {@return whether a decoded stream begins with a blank that is not part of the text}
    abstract boolean dropsSpace();

    final Vocabulary vocabulary() {
        return vocabulary;
    }

    @Override
    public final int vocabularySize() {
        return vocabulary.size();
    }

    @Override
    public final int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
        String input = Utf16.wellFormed(text);
        return encode(input, addSpecial, vocabulary.special(parseSpecial).find(input));
    }

    @Override
    public final int[] encode(String text, boolean addSpecial, int[] borders) {
        String input = Utf16.wellFormed(text);
        return encode(input, addSpecial, vocabulary.special(true).find(input, (id, from, to) -> {
            int at = Arrays.binarySearch(borders, from + 1);
            int next = at < 0 ? -at - 1 : at;
            boolean spans = next < borders.length && borders[next] < to;
            return !spans || vocabulary.type(id) == Vocabulary.USER_DEFINED;
        }));
    }

    private int[] encode(String input, boolean addSpecial, SpecialTokens.Found found) {
        IntList out = new IntList(16 + input.length() / 3);
        if (addSpecial && vocabulary.addsBos()) {
            out.add(vocabulary.bos());
        }
        Encoder encoder = encoder(input, out);
        int at = 0;
        for (int i = 0; i < found.ids().length; i++) {
            if (found.from()[i] > at) {
                encoder.encode(at, found.from()[i]);
            }
            out.add(found.ids()[i]);
            at = found.to()[i];
        }
        if (at < input.length()) {
            encoder.encode(at, input.length());
        }
        if (addSpecial && vocabulary.addsEos()) {
            out.add(vocabulary.eos());
        }
        return out.toArray();
    }

    @Override
    public final byte[] bytes(int id) {
        return switch (vocabulary.type(id)) {
            case Vocabulary.CONTROL, Vocabulary.UNUSED -> NO_BYTES;
            case Vocabulary.UNKNOWN -> "\uFFFD".getBytes(StandardCharsets.UTF_8);
            case Vocabulary.USER_DEFINED -> vocabulary.text(id).getBytes(StandardCharsets.UTF_8);
            default -> textBytes(id);
        };
    }

    @Override
    public final String piece(int id) {
        return vocabulary.text(id);
    }

    @Override
    public final StreamDecoder decoder() {
        return new Utf8StreamDecoder(this, dropsSpace());
    }

    @Override
    public final boolean isEndOfGeneration(int id) {
        return vocabulary.isEndOfGeneration(id);
    }

    @Override
    public final boolean isControl(int id) {
        return id >= 0 && id < vocabulary.size() && vocabulary.type(id) == Vocabulary.CONTROL;
    }

    @Override
    public final OptionalInt bos() {
        return vocabulary.bos() < 0 ? OptionalInt.empty() : OptionalInt.of(vocabulary.bos());
    }

    @Override
    public final OptionalInt eos() {
        return vocabulary.eos() < 0 ? OptionalInt.empty() : OptionalInt.of(vocabulary.eos());
    }

    @Override
    public final boolean addsBos() {
        return vocabulary.addsBos();
    }
}
