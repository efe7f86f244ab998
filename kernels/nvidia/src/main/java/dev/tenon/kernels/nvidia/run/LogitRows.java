package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import java.util.Objects;

/// The logits of the last step, and the tokens that the device sampled. Logits are on the device until
/// they are asked for, unless they arrived with the step, or had to be kept because a further run of the
/// step writes over them. Reused from step to step.
final class Rows implements StepResult {
    private static final float[][] NOTHING_KEPT = {};

    private final PlanTurn turn;
    private final StepLogits logits;
    private final StepSampling sampling;
    private final NamedRows named;
    private final int width;
    private final boolean selected;
    private int count;
    private int allTokens;
    private int[] tokens = new int[16];
    private float[][] kept = NOTHING_KEPT;
    private int onHost;
    /// Whether somebody has asked for logits of this step, and of the last one that had any.
    private boolean asked;

    private boolean askedBefore = true;

    /// @param turn the plan's
    /// @param logits how the host gets rows
    /// @param sampling the sampled tokens
    /// @param named outputs beside the logits
    /// @param width numbers in a row
    /// @param selected whether the device has a row for each token that wants logits; otherwise for each token
    Rows(PlanTurn turn, StepLogits logits, StepSampling sampling, NamedRows named, int width, boolean selected) {
        this.turn = turn;
        this.logits = logits;
        this.sampling = sampling;
        this.named = named;
        this.width = width;
        this.selected = selected;
    }

    /// Begins a step: nothing is left of the last one.
    void begin(StepInput input) {
        if (count > 0) {
            askedBefore = asked;
        }
        asked = false;
        sampling.clear();
        named.begin();
        onHost = 0;
        kept = NOTHING_KEPT;
        count = input.logitRows();
        allTokens = input.tokenCount();
        if (count > tokens.length) {
            tokens = new int[Integer.highestOneBit(count) * 2];
        }
        for (int t = 0, r = 0; t < input.tokenCount(); t++) {
            if (input.wantsLogits(t)) {
                tokens[r++] = t;
            }
        }
    }

    /// {@return whether logits are worth sending with the step: somebody asked for those of the last step
    ///     that had any}
    boolean likelyAsked() {
        return askedBefore;
    }

    /// Notes that the first rows arrived with the step.
    void arrived(int rows) {
        onHost = rows;
    }

    /// Copies the rows of a run, because the next one writes over them.
    ///
    /// @param first index of the run's first row among those of the step
    /// @param rows how many
    void keep(int first, int rows) {
        if (kept.length != count) {
            kept = new float[count][];
        }
        logits.fetch(0, rows);
        for (int r = 0; r < rows; r++) {
            kept[first + r] = new float[width];
            logits.take(r, kept[first + r]);
        }
        named.keep(first, rows, count);
        onHost = 0;
    }

    @Override
    public int rows() {
        return count;
    }

    private void check(int row) {
        if (row < 0 || row >= count) {
            throw new IndexOutOfBoundsException("row " + row + " of a step's result; it has " + count + " rows");
        }
    }

    @Override
    public int rows(String output) {
        return named.of(output).selected() ? count : allTokens;
    }

    @Override
    public void output(String output, int row, float[] target) {
        named.copy(output, Objects.checkIndex(row, rows(output)), target);
    }

    @Override
    public int token(int row) {
        check(row);
        return sampling.token(row);
    }

    @Override
    public void logits(int row, float[] target) {
        check(row);
        asked = true;
        turn.await();
        try {
            if (kept.length > 0) {
                System.arraycopy(kept[row], 0, target, 0, width);
                return;
            }
            turn.requireOpen();
            if (!selected || sampling.most()) {
                logits.fetch(selected ? row : tokens[row], 1);
                logits.take(0, target);
                return;
            }
            if (onHost == 0) {
                logits.fetch(0, count);
                onHost = count;
            }
            logits.take(row, target);
        } finally {
            turn.end();
        }
    }
}
