package dev.tenon.platform.core.generation;

import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import java.util.Arrays;

/// Proposes what followed where the sequence had its last tokens before: of such places the one where most tokens
/// are the same, of several the last one. Finds what a reply takes from its prompt or says again.
public final class PromptLookup implements TokenProposer {
    /// Tokens that have to be the same.
    private static final int LEAST = 3;
    /// Tokens that are compared, and places that are looked at.
    private static final int LONGEST = 32;

    private static final int PLACES = 32;
    private static final int MOST = 16;

    /// By the hash of some tokens, the last place that is after them; 0 for none.
    private int[] last = new int[1 << 10];
    /// By place, the one before it of the same hash.
    private int[] before = new int[1 << 9];
    /// Places that were noted.
    private int noted;

    @Override
    public int most() {
        return MOST;
    }

    @Override
    public int[] propose(TokenHistory sequence, int most) {
        int length = sequence.length();
        if (length <= LEAST) {
            return new int[0];
        }
        note(sequence);
        int best = 0;
        int bestSame = LEAST - 1;
        int place = last[hash(sequence, length)];
        for (int i = 0; i < PLACES && place > 0; i++) {
            int same = same(sequence, place);
            if (same > bestSame) {
                bestSame = same;
                best = place;
            }
            place = before[place];
        }
        return best == 0 ? new int[0] : after(sequence, best, most);
    }

    /// Notes all places but the end.
    private void note(TokenHistory sequence) {
        if (sequence.length() < noted) {
            noted = 0; // tokens have left
        }
        if (noted == 0 || sequence.length() >= before.length) {
            noted = LEAST - 1;
            before = new int[Math.max(before.length, 2 * sequence.length())];
            last = new int[Integer.highestOneBit(2 * before.length)];
        }
        while (noted + 1 < sequence.length()) {
            noted++;
            int hash = hash(sequence, noted);
            before[noted] = last[hash];
            last[hash] = noted;
        }
    }

    private int hash(TokenHistory sequence, int end) {
        int hash = 0;
        for (int i = end - LEAST; i < end; i++) {
            hash = (hash ^ sequence.token(i)) * 0x9E3779B1;
        }
        return (hash ^ hash >>> 15) & last.length - 1;
    }

    /// {@return how many tokens before a place are those before the end}
    private static int same(TokenHistory sequence, int place) {
        int same = 0;
        while (same < Math.min(place, LONGEST)
                && sequence.token(place - 1 - same) == sequence.token(sequence.length() - 1 - same)) {
            same++;
        }
        return same;
    }

    /// {@return the tokens from a place on; where the sequence ends, those that are proposed}
    private static int[] after(TokenHistory sequence, int place, int most) {
        int[] tokens = new int[most];
        int rest = sequence.length() - place;
        Arrays.setAll(tokens, i -> sequence.token(place + i % rest));
        return tokens;
    }
}
