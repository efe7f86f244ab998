package dev.tenon.platform.core.steps;

/// What steps without prompts take, by the number of their tokens, and so how many proposed tokens
/// are worth running; and how often those followed that ran. Used by the thread that drives the loop.
public final class StepCosts {
    /// Tokens of the widest step that is told apart.
    private static final int WIDEST = 64;
    /// How much a new measurement counts among those before.
    private static final double SHARE = 0.25;
    /// Steps after which a measurement counts no more, so that one that was disturbed is made again.
    private static final int FRESH = 512;

    private static final double FIRST_RATE = 0.5;
    /// How much a proposal counts among those of all generations before.
    private static final double RATE_SHARE = 0.02;

    /// Of a step with so many tokens; 0 if there was none.
    private final double[] nanos = new double[WIDEST + 1];
    /// The step in which it was measured last.
    private final long[] measured = new long[WIDEST + 1];

    private long step;
    /// Sequences of the last step, and how many of them got proposals.
    private int sequences = 1;

    private int proposing;
    private final boolean again;
    private volatile double rate = FIRST_RATE;

    /// @param again whether tokens that were taken run again where a proposal after them was wrong, as states need
    public StepCosts(boolean again) {
        this.again = again;
    }

    /// Notes what a step without prompts took.
    ///
    /// @param inStep its sequences
    /// @param withProposals how many of them had proposals
    /// @param tokens its tokens
    /// @param took its nanoseconds
    void ran(int inStep, int withProposals, int tokens, long took) {
        sequences = inStep;
        proposing = withProposals;
        step++;
        if (tokens <= WIDEST) {
            nanos[tokens] = unknown(tokens) ? took : nanos[tokens] + SHARE * (took - nanos[tokens]);
            measured[tokens] = step;
        }
    }

    /// {@return how many tokens to propose to a sequence, so that the sequences of a step together get
    /// the most tokens in its time, if all do so that had proposals before; 0 if that is without any}
    ///
    /// @param rate how probable it is that a proposal follows where those before it did
    /// @param draftNanos what making a proposal takes
    /// @param most most proposals
    public int worthwhile(double rate, double draftNanos, int most) {
        int with = Math.max(1, proposing);
        int best = 0;
        double bestSpeed = sequences / cost(sequences);
        double expected = sequences;
        double follows = 1;
        double runAgain = 0;
        for (int count = 1; count <= most && sequences + with * count <= WIDEST; count++) {
            runAgain += again ? follows * (1 - rate) * count : 0;
            follows *= rate;
            expected += with * follows;
            int tokens = sequences + (int) Math.round(with * (count + runAgain));
            double speed = expected / (cost(tokens) + with * count * draftNanos);
            if (speed > bestSpeed) {
                best = count;
                bestSpeed = speed;
            }
        }
        return best;
    }

    /// {@return nanoseconds of a step like the last one without proposals}
    public double step() {
        return cost(sequences);
    }

    /// {@return how probable it is that a proposal follows where those before it did, by all that ran; for any thread}
    public double rate() {
        return rate;
    }

    /// Notes what became of a proposal that followed what was before it.
    ///
    /// @param followed whether it was right, too
    public void proposed(boolean followed) {
        rate = rate + RATE_SHARE * ((followed ? 1 : 0) - rate);
    }

    private boolean unknown(int tokens) {
        return nanos[tokens] == 0 || step - measured[tokens] > FRESH;
    }

    /// What a step of so many tokens takes: between two that were measured on the line between them,
    /// before the first and after the last one as much as it. So a width that nobody has tried looks
    /// cheap, and is tried.
    private double cost(int tokens) {
        int below = Math.min(tokens, WIDEST);
        while (below > 0 && unknown(below)) {
            below--;
        }
        int above = tokens;
        while (above <= WIDEST && unknown(above)) {
            above++;
        }
        if (below == 0) {
            return above > WIDEST ? 1 : nanos[above];
        }
        if (above > WIDEST || above == below) {
            return nanos[below];
        }
        return nanos[below] + (nanos[above] - nanos[below]) * (tokens - below) / (above - below);
    }
}
