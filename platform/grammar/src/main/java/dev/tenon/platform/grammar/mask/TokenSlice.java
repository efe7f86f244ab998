package dev.tenon.platform.grammar.mask;

import dev.tenon.platform.grammar.expr.Slice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Tokens by how many characters of a slice they begin with. Immutable.
final class TokenSlice {
    /// Most characters, and most bytes after them, of a token that is not among [#longer].
    static final int LONGEST = 16;

    final Slice slice;
    /// The tokens that have nothing after the slice's characters.
    final long[] whole;
    /// The others, by the bytes that they have after those characters.
    final TokenTrie rests;
    /// Those with so many characters of the slice.
    final TokenTrie[] restsAfter = new TokenTrie[LONGEST + 1];
    /// The tokens that are neither in [#whole] nor in [#rests], by all their bytes.
    final TokenTrie longer;
    /// The tokens, but the longer ones, that begin with at most so many characters of the slice.
    private final long[][] upTo = new long[LONGEST + 1][];

    TokenSlice(Slice slice, List<TokenTrie.Entry> tokens, int words) {
        this.slice = slice;
        this.whole = new long[words];
        List<List<TokenTrie.Entry>> after = new ArrayList<>();
        for (int i = 0; i <= LONGEST; i++) {
            upTo[i] = new long[words];
            after.add(new ArrayList<>());
        }
        List<TokenTrie.Entry> later = new ArrayList<>();
        for (TokenTrie.Entry each : tokens) {
            byte[] bytes = each.bytes();
            int characters = 0;
            int at = 0;
            for (int length = slice.lengthAt(bytes, at); length > 0; length = slice.lengthAt(bytes, at)) {
                at += length;
                characters++;
            }
            if (characters > LONGEST || bytes.length - at > LONGEST) {
                later.add(each);
                continue;
            }
            if (at == bytes.length) {
                TokenVocabulary.set(whole, each.id());
            } else {
                after.get(characters).add(new TokenTrie.Entry(each.id(), Arrays.copyOfRange(bytes, at, bytes.length)));
            }
            for (int i = characters; i <= LONGEST; i++) {
                TokenVocabulary.set(upTo[i], each.id());
            }
        }
        rests = new TokenTrie(after.stream().flatMap(List::stream).toList());
        for (int i = 0; i <= LONGEST; i++) {
            restsAfter[i] = new TokenTrie(after.get(i));
        }
        longer = new TokenTrie(later);
    }

    /// Adds those of some tokens to a mask that begin with so many characters of the slice.
    ///
    /// @param tokens any tokens but longer ones
    /// @param from how many at least
    /// @param to how many at most
    /// @param mask where they are added
    void add(long[] tokens, int from, int to, long[] mask) {
        long[] most = upTo[to];
        if (from == 0) {
            for (int i = 0; i < mask.length; i++) {
                mask[i] |= tokens[i] & most[i];
            }
            return;
        }
        long[] less = upTo[from - 1];
        for (int i = 0; i < mask.length; i++) {
            mask[i] |= tokens[i] & most[i] & ~less[i];
        }
    }
}
