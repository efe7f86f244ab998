package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.TokenChoice;

/// One call of a session: what its sequence wants of the next step, and what the step did.
///
/// ```
///              +------ takes its place again -----+------ consumer has caught up -------+
///              v                                  |                                     |
/// begin --> QUEUED -- the step takes it --> RUNNING -- consumer is far behind --> PAUSED
///              |                                  |                                     |
///              +--- cancelled, closed, failed ----+--> ENDED <---- cancelled, closed ---+
/// ```
///
/// The state is guarded by the lock of the [StepLoop]; all other fields belong to the thread that
/// drives it.
public abstract class SequenceTask {
    /// Where the task is.
    public enum State {
        /// It waits for the next step.
        QUEUED,
        /// It is in the step that is being run or evaluated.
        RUNNING,
        /// It waits for its consumer.
        PAUSED,
        /// It is over; its session may begin another one.
        ENDED
    }

    /// For [#logitsFrom]: no logits.
    public static final int NO_LOGITS = Integer.MAX_VALUE;

    protected final TokenSequence sequence;
    State state = State.QUEUED;

    /// Tokens from this index in the sequence on want logits.
    protected int logitsFrom = NO_LOGITS;
    /// How a device may sample the token after the pending ones; null if the host does.
    protected TokenChoice choice;
    /// Most tokens that a device may sample.
    protected int mostTokens;

    /// Tokens that the step ran.
    int ran;
    /// Index in the sequence of the first token with logits.
    public int firstRow;
    /// Rows with logits, or with a token in their place.
    public int rows;
    /// Why the step failed for this task alone, or null.
    RuntimeException error;

    public SequenceTask(TokenSequence sequence) {
        this.sequence = sequence;
    }

    public int pending() {
        return sequence.length() - sequence.computed();
    }

    /// {@return whether a token at a position is the last one to run, so that a device may sample
    ///     the next one}
    public boolean samplesAfter(int position) {
        return choice != null && position == sequence.length() - 1;
    }

    /// {@return whether the session wants no more of it; asked before each step, from any thread}
    public abstract boolean cancelled();

    /// Takes what the step gave, after its tokens were counted as computed. Never called with a
    /// lock held.
    ///
    /// @param result the step's result
    /// @param row the task's first row in it
    /// @return where the task goes: [State#QUEUED], [State#PAUSED] or [State#ENDED]
    public abstract State stepped(StepResult result, int row);

    /// Takes a token that the device sampled in a run of several steps; it was appended to the
    /// sequence.
    ///
    /// @return where the task goes, as above
    public State took(int token) {
        throw new IllegalStateException("no device samples for " + this);
    }

    /// {@return whether a paused task still has to wait for its consumer; asked with the loop's
    ///     lock held}
    public boolean stillPaused() {
        return false;
    }

    /// Ends the task; called once, with the loop's lock held, and quick.
    ///
    /// @param failure why it failed; null if it was cancelled or has all it wanted
    public abstract void end(RuntimeException failure);
}
