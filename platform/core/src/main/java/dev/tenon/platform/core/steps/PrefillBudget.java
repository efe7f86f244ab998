package dev.tenon.platform.core.steps;

import java.util.concurrent.TimeUnit;

/// How many tokens of prompts a step may run, so that it takes no longer than a budget, by what such steps took so
/// far. One is for steps in which sequences wait for their next tokens, another for those of prompts alone, whose end a
/// prompt waits for that comes meanwhile. Guarded by the loop's lock.
///
/// On a device where a step without prompts takes more than half of the budget, a step may take twice that time: so
/// prompts get half of the time on any device, and at least one token a step.
final class PrefillBudget {
    /// As long as nothing was measured.
    private static final int FIRST_TOKENS = 64;
    /// How much a new measurement counts among those before.
    private static final double SHARE = 0.5;

    private final long budgetNanos;
    private final int least;
    /// Of a step without prompts; 0 as long as there was none.
    private double decodeNanos;
    /// Of a step with prompts, for each of their tokens, whatever else it ran; 0 as long as there was none.
    private double tokenNanos;
    /// The same, but what the step took longer than one without prompts.
    private double moreNanos;
    /// Whether sequences waited in such a step; else it is a first guess.
    private boolean measured;
    /// What the last step was allowed.
    private int allowed;

    /// @param millis the budget; 0 for none
    /// @param least tokens that a step may run however long they take
    PrefillBudget(long millis, int least) {
        this.budgetNanos = TimeUnit.MILLISECONDS.toNanos(millis);
        this.least = least;
    }

    /// {@return most tokens of prompts that the next step may run}
    ///
    /// @param room how many there is room for
    int tokens(int room) {
        if (budgetNanos == 0) {
            return room;
        }
        double tokens = FIRST_TOKENS;
        if (tokenNanos > 0) {
            // The first number is too large after a step that was too long, the second after one in which few
            // tokens took no time at all.
            tokens = Math.min(limit() / tokenNanos, (limit() - decodeNanos) / moreNanos);
        }
        double most = measured ? 2.0 * Math.max(1, allowed) : Double.MAX_VALUE;
        allowed = (int) Math.clamp(Math.min(tokens, most), Math.min(least, Math.max(1, room)), Math.max(1, room));
        return allowed;
    }

    /// {@return how many tokens of prompts take as long as a step without any; 0 as long as that is not known}
    int tokensOfAStep() {
        return tokenNanos == 0 ? 0 : (int) Math.ceil(decodeNanos / tokenNanos);
    }

    /// {@return nanoseconds that a token of a prompt takes; 0 as long as that is not known}
    double tokenNanos() {
        return tokenNanos;
    }

    private double limit() {
        return Math.max(budgetNanos, 2 * decodeNanos);
    }

    /// Notes what a step took.
    ///
    /// @param waiting sequences for whose sake it was bounded
    /// @param prompts tokens of prompts that ran in it
    /// @param nanos of the step
    void ran(int waiting, int prompts, long nanos) {
        if (prompts == 0) {
            decodeNanos = mean(decodeNanos, nanos);
        } else if (waiting > 0) {
            // The last piece of a prompt says little about a step as long as is allowed, unless it takes too long.
            if (2 * prompts >= allowed || nanos > limit()) {
                tokenNanos = mean(measured ? tokenNanos : 0, (double) nanos / prompts);
                moreNanos = mean(measured ? moreNanos : 0, Math.max(1, nanos - decodeNanos) / prompts);
                measured = true;
            }
        } else if (!measured && prompts >= FIRST_TOKENS) {
            tokenNanos = mean(tokenNanos, (double) nanos / prompts);
            moreNanos = tokenNanos;
        }
    }

    private static double mean(double before, double now) {
        return before == 0 ? now : before + SHARE * (now - before);
    }
}
