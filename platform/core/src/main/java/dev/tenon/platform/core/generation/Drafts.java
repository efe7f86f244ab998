package dev.tenon.platform.core.generation;

import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.platform.core.steps.StepCosts;
import dev.tenon.platform.core.steps.TokenSequence;

/// Proposes tokens to one generation as long as that pays, by what steps take and how many proposals were right; at
/// its beginning, how many were right in others. Where it does not, it is tried again after some tokens, each time
/// after more of them.
public final class Drafts {
    private static final int[] NONE = {};
    /// How much a new proposal counts among those before.
    private static final double SHARE = 0.1;
    private static final int FIRST_PAUSE = 8;
    private static final int LONGEST_PAUSE = 512;
    /// Tokens that are proposed to try it again: one, where making them takes more than a part of a step.
    private static final int TRIED = 4;

    private static final double CHEAP = 0.25;

    private final TokenProposer proposer;
    private final StepCosts costs;
    private double rate;
    private int pause = FIRST_PAUSE;
    private int waited;
    private int drafted;
    private int accepted;

    /// @param proposer proposes; null if nothing does
    /// @param costs of the model's steps
    public Drafts(TokenProposer proposer, StepCosts costs) {
        this.proposer = proposer;
        this.costs = costs;
        this.rate = costs.rate();
    }

    /// {@return tokens that may follow}
    ///
    /// @param sequence the tokens so far
    /// @param room most tokens
    int[] next(TokenSequence sequence, int room) {
        if (proposer == null || room <= 0) {
            return NONE;
        }
        int most = Math.min(room, proposer.most());
        int count = costs.worthwhile(rate, proposer.nanosPerToken(), most);
        if (count == 0) {
            if (++waited < pause) {
                return NONE;
            }
            waited = 0;
            pause = Math.min(2 * pause, LONGEST_PAUSE);
            boolean cheap = TRIED * proposer.nanosPerToken() < CHEAP * costs.step();
            count = cheap ? Math.min(most, TRIED) : 1;
        }
        return proposer.propose(sequence, count);
    }

    /// Notes what became of proposals.
    ///
    /// @param count how many ran
    /// @param right how many of them followed; the next one did not
    void checked(int count, int right) {
        drafted += count;
        accepted += right;
        for (int i = 0; i < Math.min(count, right + 1); i++) {
            rate += SHARE * ((i < right ? 1 : 0) - rate);
            costs.proposed(i < right);
        }
        if (right > 0 && right == count) {
            pause = FIRST_PAUSE;
        }
    }

    /// {@return how many proposals ran}
    int drafted() {
        return drafted;
    }

    /// {@return how many of them followed}
    int accepted() {
        return accepted;
    }
}
