package dev.tenon.platform.core.steps;

import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.platform.core.placement.HeadPlan;
import java.util.function.Supplier;

/// Has the head of the model propose tokens to one sequence.
final class HeadProposer implements TokenProposer {
    private static final int[] NONE = {};
    /// How much a new measurement counts among those before.
    private static final double SHARE = 0.25;

    private final TokenSequence sequence;
    private final Supplier<Head> head;
    private double nanos;

    /// @param sequence the sequence
    /// @param head the head of the moment; null while there is none
    HeadProposer(TokenSequence sequence, Supplier<Head> head) {
        this.sequence = sequence;
        this.head = head;
    }

    @Override
    public int most() {
        return HeadPlan.MOST_TOKENS;
    }

    @Override
    public double nanosPerToken() {
        return nanos;
    }

    /// Nothing before the first step of a call, which is not prepared by the thread that drives the loop.
    @Override
    public int[] propose(TokenHistory tokens, int most) {
        Head now = head.get();
        if (sequence.user() == null || now == null) {
            return NONE;
        }
        long begin = System.nanoTime();
        int[] proposed = now.propose(sequence, most);
        if (proposed.length > 0) {
            double took = (System.nanoTime() - begin) / (double) proposed.length;
            nanos = nanos == 0 ? took : nanos + SHARE * (took - nanos);
        }
        return proposed;
    }
}
