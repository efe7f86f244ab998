package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepResult;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// Runs tokens of a session without sampling. The calling thread takes the rows of each step
/// before it asks for the next one; where nobody drives the loop, that thread does.
public final class EvaluationTask extends SequenceTask {
    /// How many others a caller wakes that has been woken.
    private static final int WOKEN_BY_EACH = 4;

    private final Thread caller = Thread.currentThread();
    private final int width;
    private final String output;
    private final boolean read;
    private volatile boolean ended = true;
    /// Whether all tokens have run. They may have to run again as soon as the last step has ended, for the next
    /// call.
    private boolean complete;

    private RuntimeException failure;
    /// The evaluations that ended with this one, if there are several, and its place among them.
    private EvaluationTask[] group;

    private int place;
    private float[][] values = new float[1][];

    /// @param sequence with the tokens appended
    /// @param output a named output; null for the default one
    /// @param width elements in a row of the output
    /// @param logitsFrom index of the first token whose row is wanted
    /// @param read whether anybody reads them; a device that can need not send logits that nobody
    ///     reads
    public EvaluationTask(TokenSequence sequence, String output, int width, int logitsFrom, boolean read) {
        super(sequence, 0, "");
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
        complete = pending() == 0;
        want(Math.max(logitsFrom(), sequence().computed()), null, 0); // a token that runs again gives no second row
        return State.ENDED;
    }

    /// The row of a named output, which has those of all tokens or of the wanted ones.
    private int outputRow(StepResult result, int row, int r) {
        boolean ofAllTokens = result.rows(output) != result.rows();
        return ofAllTokens ? firstToken() + tokens() - rows() + r : row + r;
    }

    @Override
    protected boolean comesBack() {
        return !complete && !failed();
    }

    @Override
    protected void ended(RuntimeException why) {
        failure = why;
        ended = true;
        if (group == null) {
            wake();
        }
    }

    private void wake() {
        if (Thread.currentThread() != caller) {
            LockSupport.unpark(caller);
        }
    }

    /// Ends the tasks of a step. Of several evaluations, the first one's caller is woken, wakes a few
    /// others, each of them a few more, and so on: waking hundreds one after the other takes longer
    /// than some steps do.
    static void endAll(List<SequenceTask> tasks) {
        int count = 0;
        EvaluationTask[] all = new EvaluationTask[tasks.size()];
        for (SequenceTask task : tasks) {
            if (!(task instanceof EvaluationTask evaluation)) {
                task.finish();
            } else {
                all[count] = evaluation;
                if (evaluation.caller == Thread.currentThread()) {
                    all[count] = all[0];
                    all[0] = evaluation;
                }
                count++;
            }
        }
        if (count == 1) {
            all[0].finish();
        } else if (count > 1) {
            endGroup(Arrays.copyOf(all, count));
        }
    }

    private static void endGroup(EvaluationTask[] group) {
        // Backwards, because whoever has ended wakes those after it.
        for (int i = group.length - 1; i >= 0; i--) {
            group[i].group = group;
            group[i].place = i;
            group[i].finish();
        }
        group[0].wake();
    }

    private void wakeOthers() {
        if (group != null) {
            int first = WOKEN_BY_EACH * place + 1;
            for (int i = first; i < Math.min(first + WOKEN_BY_EACH, group.length); i++) {
                group[i].wake();
            }
            group = null;
        }
    }

    /// {@return whether all tokens have run}
    public boolean complete() {
        return complete;
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
        wakeOthers();
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
