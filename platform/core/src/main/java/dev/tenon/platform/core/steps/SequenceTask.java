package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.TokenSampling;

/// One call of a session: what its sequence wants of the next step, and what the step gave it.
///
/// ```
///            queue            run             pause
///   NEW ------------> QUEUED ------> RUNNING -------> PAUSED
///                       ^  |            |  |             |
///                       |  |    queue   |  |    queue    |
///                       +--|------------+--|-------------+
///                          |               |             |
///                          +---------------+-------------+-- finish --> ENDED
/// ```
///
/// The [StepLoop] changes the state with its lock held; the thread that drove its last step may end
/// a task without it. A task is queued again when it wants more steps, pauses when its consumer is
/// far behind, and ends when it has all it wanted, was cancelled or failed. An evaluation that wants
/// another step becomes new again. All other fields belong to the thread that drives the loop.
public abstract class SequenceTask {
    /// Where a task is.
    public enum State {
        /// Nobody has submitted it yet.
        NEW,
        /// It waits for the next step.
        QUEUED,
        /// It is in the step that is being run.
        RUNNING,
        /// It waits for its consumer.
        PAUSED,
        /// It is over; its session may begin another one.
        ENDED
    }

    /// For [#want]: no logits.
    public static final int NO_LOGITS = Integer.MAX_VALUE;

    private final TokenSequence sequence;
    private State state = State.NEW;
    private final int priority;
    private final String group;
    /// The number of its arrival; -1 before.
    private long arrival = -1;

    // What it wants of the next step.
    private int logitsFrom = NO_LOGITS;
    private TokenSampling choice;
    private int mostTokens;
    private int[] proposals = {};

    // Its part of the step, and what came of it.
    private int tokens;
    private int rows;
    private int firstRow;
    private int firstToken;
    private int checked;
    private State next;
    private RuntimeException failure;

    /// @param sequence its tokens; those that are not computed yet are pending
    /// @param priority tasks of a higher one go first
    /// @param group whose task it is; groups take turns
    protected SequenceTask(TokenSequence sequence, int priority, String group) {
        this.sequence = sequence;
        this.priority = priority;
        this.group = group;
    }

    final int priority() {
        return priority;
    }

    final String group() {
        return group;
    }

    /// Called when the task is queued for the first time, with the loop's lock held: from now on nobody else
    /// changes its sequence.
    protected void begins() {}

    /// {@return whether it uses tokens that were computed for another sequence of its group, and leaves its own to
    ///     them}
    protected boolean sharesPages() {
        return false;
    }

    /// Called when tokens count as computed that the task has not run, with the loop's lock held.
    protected void reused() {}

    /// {@return whether the session wants no more of it; asked before each step}
    protected abstract boolean cancelled();

    /// {@return whether it stays out of steps that have rows of its own, since something that they need is not there
    ///     yet; whoever brings it wakes the loop}
    protected boolean late() {
        return false;
    }

    /// Has the task do what it can without a step, once it is no longer late. Called before each step while it is
    /// queued, with the loop's lock held; what it throws fails the task.
    ///
    /// @return whether it wants another step
    protected boolean goesOn() {
        return true;
    }

    /// Takes what the step gave, after its tokens were counted as computed. Called without a lock.
    ///
    /// @param result the step's result
    /// @param row the task's first row in it
    /// @return where the task goes: [State#QUEUED], [State#PAUSED] or [State#ENDED]
    protected abstract State stepped(StepResult result, int row);

    /// Takes a token that the device sampled in a run of several steps; it was appended to the
    /// sequence.
    ///
    /// @return where the task goes, as above
    protected State sampled(int token) {
        throw new IllegalStateException("no device samples for " + this);
    }

    /// {@return which tokens may follow the pending ones, as [dev.tenon.api.device.StepInput#mask] has it; null if
    ///     all may; what it says is right unless the task is [late][#late]}
    protected long[] mask() {
        return null;
    }

    /// {@return whether a task that ends after a step, and has not failed, wants another one at once}
    protected boolean comesBack() {
        return false;
    }

    /// {@return whether a paused task still has to wait for its consumer; asked with the loop's
    ///     lock held}
    protected boolean stillPaused() {
        return false;
    }

    /// Called once when the task has ended, by the thread that drove its last step or with the loop's
    /// lock held. Returns soon and throws nothing.
    ///
    /// @param why why it failed; null if it was cancelled or has all it wanted
    protected abstract void ended(RuntimeException why);

    /// Says what the next steps are for.
    ///
    /// @param from tokens from this index in the sequence on want logits
    /// @param how how a device may sample the token after the pending ones; null if the host does
    /// @param most most tokens that a device may sample
    protected final void want(int from, TokenSampling how, int most) {
        logitsFrom = from;
        choice = how;
        mostTokens = most;
    }

    /// Proposes tokens to follow the pending one. The next step runs as many of them after it as there is room
    /// for, each with logits; the task finds out which of them follow.
    ///
    /// @param tokens the tokens; never changed
    protected final void propose(int[] tokens) {
        proposals = tokens;
    }

    /// {@return the tokens that are proposed}
    protected final int[] proposals() {
        return proposals;
    }

    /// {@return how many of the proposals, the first ones, ran in the last step; they do not count as computed}
    protected final int checked() {
        return checked;
    }

    /// {@return the tokens}
    protected final TokenSequence sequence() {
        return sequence;
    }

    /// {@return how many tokens have to be run}
    public final int pending() {
        return sequence.length() - sequence.computed();
    }

    /// {@return how many tokens of the last step have logits, or a sampled token in their place}
    public final int rows() {
        return rows;
    }

    /// {@return index in the sequence of the first of them}
    public final int firstRow() {
        return firstRow;
    }

    /// {@return how many tokens ran in the last step, proposals too}
    protected final int tokens() {
        return tokens;
    }

    /// {@return index in the step of the first of them}
    protected final int firstToken() {
        return firstToken;
    }

    /// {@return how a device may sample the token after the pending ones; null if the host does}
    protected final TokenSampling choice() {
        return choice;
    }

    /// {@return index in the sequence of the first token that wants logits}
    final int logitsFrom() {
        return logitsFrom;
    }

    /// {@return most tokens that a device may sample}
    final int mostTokens() {
        return mostTokens;
    }

    /// Gives the task its part of the step.
    ///
    /// @param count how many pending tokens run
    /// @param withLogits how many of them, the last ones, have logits
    /// @param proposed how many proposals run after them
    final void assign(int count, int withLogits, int proposed) {
        tokens = count + proposed;
        rows = withLogits + proposed;
        checked = proposed;
        firstRow = sequence.computed() + count - withLogits;
    }

    /// {@return whether the task is over before the next step: cancelled, failed, or without a wish for one}
    final boolean over() {
        if (cancelled()) {
            return true;
        }
        try {
            return !goesOn();
        } catch (RuntimeException | Error e) {
            fail(e);
            return true;
        }
    }

    /// Has the task take its rows of a step's result.
    ///
    /// @param row the first of its rows in the result
    /// @param token the first of its tokens in the step
    final void take(StepResult result, int row, int token) {
        firstToken = token;
        if (failure != null) {
            return;
        }
        sequence.advance(tokens - checked);
        try {
            next = stepped(result, row);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /// Has the task take a token that the device sampled.
    ///
    /// @return whether it wants the next one
    final boolean take(int token) {
        sequence.advance(1);
        sequence.append(token);
        try {
            next = sampled(token);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        return next() == State.QUEUED && proposals.length == 0 && !late();
    }

    /// Has the task end after the step, unless it has failed before. An error, such as a class that
    /// a stopped bundle can no longer load, reaches the session as an exception.
    final void fail(Throwable why) {
        if (failure == null) {
            failure = why instanceof TenonException || why instanceof IllegalArgumentException
                    ? (RuntimeException) why
                    : new BackendException(ErrorCode.BACKEND_FAILED, "A step failed: " + why, 0, why);
        }
    }

    /// {@return whether its part of the step failed}
    final boolean failed() {
        return failure != null;
    }

    /// {@return where the task goes after the step}
    final State next() {
        return failure != null ? State.ENDED : next;
    }

    final State state() {
        return state;
    }

    final boolean running() {
        return state == State.RUNNING;
    }

    /// Has it wait for the next step.
    ///
    /// @param number greater than those of all that came before; the task keeps the first one that it gets
    final void queue(long number) {
        become(State.QUEUED);
        if (arrival < 0) {
            arrival = number;
            sequence.use(this);
            begins();
        }
    }

    /// {@return whether it waits for something else than a step: its consumer, or what it is late for}
    final boolean waitsOutside() {
        return state == State.PAUSED || late();
    }

    /// {@return whether it goes before another task: it has a higher priority, or the same one and came before}
    final boolean outranks(SequenceTask other) {
        return priority == other.priority ? arrival < other.arrival : priority > other.priority;
    }

    final void run() {
        become(State.RUNNING);
        next = State.QUEUED;
    }

    final void pause() {
        become(State.PAUSED);
    }

    final void finish() {
        become(State.ENDED);
        RuntimeException why = failure;
        failure = null;
        ended(why);
    }

    final void renew() {
        become(State.NEW);
    }

    private void become(State to) {
        boolean allowed = switch (to) {
            case NEW -> state == State.ENDED;
            case QUEUED -> state == State.NEW || state == State.RUNNING || state == State.PAUSED;
            case RUNNING -> state == State.QUEUED;
            case PAUSED -> state == State.RUNNING;
            case ENDED -> state == State.QUEUED || state == State.RUNNING || state == State.PAUSED;
        };
        if (!allowed) {
            throw new IllegalStateException("a task goes from " + state + " to " + to);
        }
        state = to;
    }
}
