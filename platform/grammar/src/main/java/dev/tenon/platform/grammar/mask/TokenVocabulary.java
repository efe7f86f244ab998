package dev.tenon.platform.grammar.mask;

import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.grammar.expr.Slice;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// The tokens of a tokenizer, prepared for masks: made once for each tokenizer. Tokens without text
/// are in no mask; control tokens only where a grammar names them, and those that end a generation
/// where the text may end. Immutable and safe for any thread.
public final class TokenVocabulary {
    /// The byte before the name of a control token, in grammars; no text has it.
    public static final int CONTROL = 0xFF;

    private final Tokenizer tokenizer;
    private final int words;
    private final int[] ends;
    /// Names of control tokens that end no generation.
    private final Set<String> controls;

    private final int longestControl;
    final TokenTrie all;
    /// Those that are not plain, or long.
    final TokenTrie notPlain;
    /// By each slice.
    final List<TokenSlice> slices;

    /// Prepares a tokenizer's tokens.
    ///
    /// @param tokenizer the tokenizer; kept
    public TokenVocabulary(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
        int size = tokenizer.vocabularySize();
        this.words = (size + 63) / 64;
        List<TokenTrie.Entry> entries = new ArrayList<>(size);
        for (int id = 0; id < size; id++) {
            byte[] bytes = tokenizer.isEndOfGeneration(id) ? new byte[0] : bytes(id);
            if (bytes.length > 0) {
                entries.add(new TokenTrie.Entry(id, bytes));
            }
        }
        controls = IntStream.range(0, size)
                .filter(id -> tokenizer.isControl(id) && !tokenizer.isEndOfGeneration(id))
                .mapToObj(tokenizer::piece)
                .collect(Collectors.toUnmodifiableSet());
        longestControl = controls.stream().mapToInt(String::length).max().orElse(0);
        ends = IntStream.range(0, size).filter(tokenizer::isEndOfGeneration).toArray();
        all = new TokenTrie(entries);
        slices = Arrays.stream(Slice.values())
                .map(slice -> new TokenSlice(slice, entries, words))
                .toList();
        notPlain = new TokenTrie(
                entries.stream().filter(each -> !has(plain().whole, each.id())).toList());
    }

    TokenSlice plain() {
        return slices.getFirst();
    }

    /// {@return the bytes that a token stands for in a grammar; none for one without text}
    ///
    /// @param id the token
    byte[] bytes(int id) {
        if (!tokenizer.isControl(id)) {
            byte[] text = tokenizer.bytes(id);
            for (byte b : text) {
                if ((b & 255) == CONTROL) {
                    return new byte[0];
                }
            }
            return text;
        }
        byte[] name = tokenizer.piece(id).getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[name.length + 1];
        bytes[0] = (byte) CONTROL;
        System.arraycopy(name, 0, bytes, 1, name.length);
        return bytes;
    }

    private static boolean has(long[] mask, int id) {
        return (mask[id >> 6] >>> id & 1) != 0;
    }

    static void set(long[] mask, int id) {
        mask[id >> 6] |= 1L << id;
    }

    /// {@return the tokenizer}
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /// {@return how long the name of a control token that begins in a text is; 0 if none does}
    ///
    /// @param text any text
    /// @param from where
    public int controlAt(String text, int from) {
        for (int length = Math.min(longestControl, text.length() - from); length > 0; length--) {
            if (controls.contains(text.substring(from, from + length))) {
                return length;
            }
        }
        return 0;
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
