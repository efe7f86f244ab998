package dev.tenon.platform.chat;

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/// Letters are tokens, `##` is a control token, and texts with special tokens are between 1 and 2.
final class LetterTokenizer implements Tokenizer {
    static final int CONTROL = 3;

    @Override
    public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
        IntStream letters = (parseSpecial ? text.replace("##", "\u0003") : text).chars();
        return addSpecial
                ? IntStream.concat(IntStream.concat(IntStream.of(1), letters), IntStream.of(2))
                        .toArray()
                : letters.toArray();
    }

    @Override
    public int vocabularySize() {
        return 128;
    }

    @Override
    public byte[] bytes(int id) {
        return new byte[] {(byte) id};
    }

    @Override
    public String piece(int id) {
        return String.valueOf((char) id);
    }

    @Override
    public StreamDecoder decoder() {
        throw new UnsupportedOperationException("nothing is decoded");
    }

    @Override
    public boolean isEndOfGeneration(int id) {
        return id == 2;
    }

    @Override
    public boolean isControl(int id) {
        return id <= CONTROL;
    }

    @Override
    public OptionalInt bos() {
        return OptionalInt.of(1);
    }

    @Override
    public OptionalInt eos() {
        return OptionalInt.of(2);
    }

    @Override
    public boolean addsBos() {
        return true;
    }
}
