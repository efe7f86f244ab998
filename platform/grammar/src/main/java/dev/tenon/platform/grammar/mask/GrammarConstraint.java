package dev.tenon.platform.grammar.mask;

import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.grammar.automaton.State;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// How far a reply has come in a grammar.
final class GrammarConstraint implements TokenConstraint {
    private static final int MOST_FORCED_BYTES = 256;
    private static final int[] NONE = {};

    private final GrammarMasks masks;
    private final TextWork work;
    private State state;
    private boolean ended;

    GrammarConstraint(GrammarMasks masks, State state, boolean ended, TextWork work) {
        this.masks = masks;
        this.state = state;
        this.ended = ended;
        this.work = work;
    }

    @Override
    public boolean quick(boolean wanted) {
        work.quick(wanted);
        return true;
    }

    @Override
    public void mask(long[] words) {
        long[] mask = masks.work(work, () -> masks.mask(state));
        System.arraycopy(mask, 0, words, 0, mask.length);
        Arrays.fill(words, mask.length, words.length, 0);
    }

    @Override
    public void accept(int token) {
        Tokenizer tokenizer = masks.vocabulary().tokenizer();
        if (tokenizer.isEndOfGeneration(token)) {
            if (!state.isAccepting()) {
                throw refused(token);
            }
            ended = true;
            return;
        }
        byte[] bytes = masks.vocabulary().bytes(token);
        State next = ended || bytes.length == 0 ? null : masks.work(work, () -> masks.after(state, bytes));
        if (next == null) {
            throw refused(token);
        }
        state = next;
    }

    private IllegalArgumentException refused(int token) {
        return new IllegalArgumentException(
                "Token " + token + " ('" + masks.vocabulary().tokenizer().piece(token)
                        + "') cannot follow here by the grammar; the mask has the tokens that can");
    }

    @Override
    public boolean isComplete() {
        return state.isAccepting();
    }

    @Override
    public boolean isEnded() {
        return ended || state.isFinal();
    }

    @Override
    public int[] forced() {
        if (ended) {
            return NONE;
        }
        byte[] all = masks.work(work, () -> masks.forced(state, MOST_FORCED_BYTES));
        int text = textLength(all);
        boolean endsText = text < all.length; // by a control token
        byte[] bytes = Arrays.copyOf(all, text);
        if (bytes.length < 2) {
            return NONE; // the only token, if it is one, is quickly sampled; it may also go on with what follows
        }
        int[] tokens;
        try {
            String decoded = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            tokens = masks.vocabulary().tokenizer().encode(decoded, false, false);
        } catch (CharacterCodingException e) {
            return NONE; // the text goes on within a character
        }
        State end = masks.work(work, () -> masks.after(state, bytes));
        // The last token may be another one together with what follows.
        int count = endsText || end.isFinal() ? tokens.length : tokens.length - 1;
        return spelled(tokens, bytes) && count > 0 ? Arrays.copyOf(tokens, count) : NONE;
    }

    private static int textLength(byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            if ((bytes[i] & 255) == TokenVocabulary.CONTROL) {
                return i;
            }
        }
        return bytes.length;
    }

    /// {@return whether tokens stand for exactly these bytes; some tokenizers add a space}
    private boolean spelled(int[] tokens, byte[] bytes) {
        Tokenizer tokenizer = masks.vocabulary().tokenizer();
        int at = 0;
        for (int token : tokens) {
            byte[] each = tokenizer.isControl(token) ? new byte[0] : tokenizer.bytes(token);
            if (each.length == 0
                    || at + each.length > bytes.length
                    || !Arrays.equals(each, 0, each.length, bytes, at, at + each.length)) {
                return false;
            }
            at += each.length;
        }
        return at == bytes.length;
    }

    @Override
    public TokenConstraint copy() {
        return new GrammarConstraint(masks, state, ended, work.copy());
    }
}
