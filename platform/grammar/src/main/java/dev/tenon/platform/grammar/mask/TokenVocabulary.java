package dev.tenon.platform.grammar.mask;

import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// The tokens of a tokenizer, prepared for masks: made once for each tokenizer. Control tokens and those
/// without text are in no mask, but for the tokens that end a generation, where the text may end.
/// Immutable and safe for any thread.
public final class TokenVocabulary {
    private final Tokenizer tokenizer;
    private final int words;
    private final int[] ends;
    final TokenTrie all;
    /// Without the plain ones.
    final TokenTrie notPlain;
    /// Without the plain ones of at most [#SHORT] characters, and of at most [PlainTokens#LONGEST].
    final TokenTrie notShort;

    final TokenTrie notLong;
    /// The plain tokens of at most so many characters; the last one has all of them.
    final long[][] plain = new long[PlainTokens.LONGEST + 2][];

    static final int SHORT = 10;

    /// Prepares a tokenizer's tokens.
    ///
    /// @param tokenizer the tokenizer; kept
    public TokenVocabulary(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
        int size = tokenizer.vocabularySize();
        this.words = (size + 63) / 64;
        List<TokenTrie.Entry> entries = new ArrayList<>(size);
        int[] lengths = new int[size];
        for (int id = 0; id < size; id++) {
            byte[] bytes =
                    tokenizer.isControl(id) || tokenizer.isEndOfGeneration(id) ? new byte[0] : tokenizer.bytes(id);
            if (bytes.length > 0) {
                entries.add(new TokenTrie.Entry(id, bytes));
                lengths[id] = PlainTokens.length(bytes);
            }
        }
        ends = IntStream.range(0, size).filter(tokenizer::isEndOfGeneration).toArray();
        all = new TokenTrie(entries);
        notPlain = without(entries, lengths, PlainTokens.LONGEST + 1);
        notShort = without(entries, lengths, SHORT);
        notLong = without(entries, lengths, PlainTokens.LONGEST);
        for (int most = 0; most < plain.length; most++) {
            plain[most] = new long[words];
        }
        for (TokenTrie.Entry each : entries) {
            for (int most = lengths[each.id()]; most >= 0 && most < plain.length; most++) {
                set(plain[most], each.id());
            }
        }
    }

    private static TokenTrie without(List<TokenTrie.Entry> entries, int[] lengths, int most) {
        return new TokenTrie(entries.stream()
                .filter(each -> lengths[each.id()] < 0 || lengths[each.id()] > most)
                .toList());
    }

    static void set(long[] mask, int id) {
        mask[id >> 6] |= 1L << id;
    }

    /// {@return the tokenizer}
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /// {@return number of words of a mask, 64 tokens each}
    public int words() {
        return words;
    }

    /// {@return the tokens that end a generation; not to be changed}
    int[] ends() {
        return ends;
    }
}
