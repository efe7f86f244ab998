package dev.tenon.platform.core.generation;

import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.platform.core.steps.TokenSequence;

/// How much of a prompt has run, which its consumer is told. Some of it may run again later, and some never, because it
/// was computed for others.
final class PromptProgress {
    private final TokenSequence sequence;
    private final EventQueue events;
    /// Tokens that need not run.
    private int cached;
    /// Tokens that have to run, and how many of them had after the last step.
    private int tokens;

    private int done;
    /// How many tokens have been computed at some time, for this generation or before it.
    private int seen;

    private boolean allRan;

    /// @param sequence has the prompt
    /// @param events takes the events
    PromptProgress(TokenSequence sequence, EventQueue events) {
        this.sequence = sequence;
        this.events = events;
    }

    /// Notes what has to run, before the first step.
    void begins() {
        cached = sequence.computed();
        tokens = sequence.length() - cached;
        seen = cached;
    }

    /// Notes that tokens count as computed that were for others.
    void reused() {
        int more = sequence.computed() - seen;
        if (!allRan && more > 0) {
            seen += more;
            cached += more;
            tokens -= more;
        }
    }

    /// Notes the end of a step, and tells how much of the prompt has run; less than before where it runs again.
    ///
    /// @param pending tokens that have not
    void ran(int pending) {
        seen = Math.max(seen, sequence.computed());
        int now = tokens - pending;
        if (!allRan && now > done) {
            done = now;
            allRan = done == tokens;
            events.publish(new GenerationEvent.Prefill(done, tokens));
        }
    }

    /// {@return whether all of it has run}
    boolean allRan() {
        return allRan;
    }

    /// {@return tokens that had to run}
    int tokens() {
        return tokens;
    }

    /// {@return tokens that had not}
    int cached() {
        return cached;
    }
}
