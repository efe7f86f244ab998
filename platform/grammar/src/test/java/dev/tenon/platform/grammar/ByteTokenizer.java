package dev.tenon.platform.grammar;

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;

/// Tokens for each byte, then some longer ones, then one control token and one that ends a
/// generation.
class ByteTokenizer implements Tokenizer {
    private final List<String> words;

    ByteTokenizer(String... words) {
        this.words = List.of(words);
    }

    int end() {
        return 257 + words.size();
    }

    @Override
    public int vocabularySize() {
        return end() + 1;
    }

    /// Takes the longest word that fits, from left to right.
    @Override
    public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int[] tokens = new int[bytes.length];
        int count = 0;
        for (int at = 0; at < bytes.length; at += bytes(tokens[count++]).length) {
            tokens[count] = bytes[at] & 255;
            for (int id = 256; id < 256 + words.size(); id++) {
                byte[] word = bytes(id);
                boolean fits = at + word.length <= bytes.length
                        && java.util.Arrays.equals(word, 0, word.length, bytes, at, at + word.length);
                if (fits && word.length > bytes(tokens[count]).length) {
                    tokens[count] = id;
                }
            }
        }
        return java.util.Arrays.copyOf(tokens, count);
    }

    @Override
    public byte[] bytes(int id) {
        if (id < 256) {
            return new byte[] {(byte) id};
        }
        return id - 256 < words.size() ? words.get(id - 256).getBytes(StandardCharsets.UTF_8) : new byte[0];
    }

    @Override
    public String piece(int id) {
        return isControl(id) ? "<" + id + ">" : new String(bytes(id), StandardCharsets.UTF_8);
    }

    @Override
    public StreamDecoder decoder() {
        throw new UnsupportedOperationException("masks need no decoder");
    }

    @Override
    public boolean isEndOfGeneration(int id) {
        return id == end();
    }

    @Override
    public boolean isControl(int id) {
        return id >= 256 + words.size();
    }

    @Override
    public OptionalInt bos() {
        return OptionalInt.empty();
    }

    @Override
    public OptionalInt eos() {
        return OptionalInt.of(end());
    }

    @Override
    public boolean addsBos() {
        return false;
    }
}
