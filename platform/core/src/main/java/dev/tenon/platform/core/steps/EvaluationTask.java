package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepResult;
import java.util.concurrent.locks.LockSupport;

/// Runs tokens of a session without sampling. The calling thread takes the rows of each step
/// before it asks for the next one; where nobody drives the loop, that thread does.
public final class EvaluationTask extends SequenceTask {
    private final Thread caller = Thread.currentThread();
    private final int width;
    private final String output;
    private final boolean read;
    private volatile boolean ended = true;
    private RuntimeException failure;
    private float[][] values = new float[1][];

    /// @param sequence with the tokens appended
    /// @param output a named output; null for the default one
    /// @param width elements in a row of the output
    /// @param logitsFrom index of the first token whose row is wanted
    /// @param read whether anybody reads them; a device that can need not send logits that nobody
    ///     reads
    public EvaluationTask(TokenSequence sequence, String output, int width, int logitsFrom, boolean read) {
        super(sequence);
        this.output = output;
        this.width = width;
        this.read = read;
        want(logitsFrom, null, 0);
    }

    @Override
    protected boolean cancelled() {
        return false;
    }

    /// Ends after each step, so that the caller can take the rows.
    @Override
    protected State stepped(StepResult result, int row) {
        if (read) {
            if (values.length < rows()) {
                values = new float[rows()][];
            }
            for (int r = 0; r < rows(); r++) {
                if (values[r] == null) {
                    values[r] = new float[width];
                }
                if (output == null) {
                    result.logits(row + r, values[r]);
                } else {
                    result.output(output, outputRow(result, row, r), values[r]);
                }
            }
        }
        return State.ENDED;
    }

    /// The row of a named output, which has those of all tokens or of the wanted ones.
    private int outputRow(StepResult result, int row, int r) {
        boolean ofAllTokens = result.rows(output) != result.rows();
        return ofAllTokens ? firstToken() + tokens() - rows() + r : row + r;
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

    /// {@return a row of the last step}
    public float[] row(int row) {
        return values[row];
    }
}
