package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepResult;
import java.util.concurrent.locks.LockSupport;

/// Runs tokens of a session without sampling. The calling thread takes the logits of each step
/// before it asks for the next one; where nobody drives the loop, that thread does.
public final class EvaluationTask extends SequenceTask {
    private final Thread caller = Thread.currentThread();
    private final int vocabularySize;
    private final boolean read;
    private volatile boolean ended = true;
    private RuntimeException failure;
    private float[][] logits = new float[1][];

    /// @param sequence with the tokens appended
    /// @param vocabularySize logits of a row
    /// @param logitsFrom index of the first token with logits
    /// @param read whether anybody reads them; a device that can need not send logits that nobody
    ///     reads
    public EvaluationTask(TokenSequence sequence, int vocabularySize, int logitsFrom, boolean read) {
        super(sequence);
        this.vocabularySize = vocabularySize;
        this.read = read;
        want(logitsFrom, null, 0);
    }

    @Override
    protected boolean cancelled() {
        return false;
    }

    /// Ends after each step, so that the caller can take the logits.
    @Override
    protected State stepped(StepResult result, int row) {
        if (read) {
            if (logits.length < rows()) {
                logits = new float[rows()][];
            }
            for (int r = 0; r < rows(); r++) {
                if (logits[r] == null) {
                    logits[r] = new float[vocabularySize];
                }
                result.logits(row + r, logits[r]);
            }
        }
        return State.ENDED;
    }

    @Override
    protected void ended(RuntimeException why) {
        failure = why;
        ended = true;
        if (Thread.currentThread() != caller) {
            LockSupport.unpark(caller);
        }
    }

    /// Makes the task one for the next step; called with the loop's lock held.
    void begin() {
        if (state() == State.ENDED) {
            renew();
        }
        ended = false;
    }

    /// {@return whether the step has ended}
    boolean ended() {
        return ended;
    }

    /// Waits for the end of the step, and throws what made it fail.
    void await() {
        boolean interrupted = false;
        while (!ended) {
            LockSupport.park(this);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            caller.interrupt();
        }
        if (failure != null) {
            throw failure;
        }
    }

    /// {@return the logits of a row of the last step}
    public float[] logits(int row) {
        return logits[row];
    }
}
