package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.StepInput;

/// Which tokens of a step have rows of logits, and the rows that a plan copied because its next run
/// overwrites them. Reused from step to step, under the plan's lock.
public final class ResultRows {
    private final int width;
    private int count;
    private int[] tokens = new int[16];
    private float[][] kept = {};

    /// Makes rows.
    ///
    /// @param width numbers in a row
    public ResultRows(int width) {
        this.width = width;
    }

    /// Begins a step: nothing is kept of the last one.
    ///
    /// @param input the step
    public void begin(StepInput input) {
        count = input.logitRows();
        kept = new float[0][];
        if (count > tokens.length) {
            tokens = new int[Integer.highestOneBit(count) * 2];
        }
        for (int t = 0, r = 0; t < input.tokenCount(); t++) {
            if (input.wantsLogits(t)) {
                tokens[r++] = t;
            }
        }
    }

    /// {@return number of rows}
    public int count() {
        return count;
    }

    /// {@return index in the step of the token whose logits a row is}
    ///
    /// @param row 0 to [#count()] - 1
    public int token(int row) {
        return tokens[row];
    }

    /// Refuses a row that the step does not have.
    ///
    /// @param row index of the row
    /// @throws IndexOutOfBoundsException if there is no such row
    public void check(int row) {
        if (row < 0 || row >= count) {
            throw new IndexOutOfBoundsException("row " + row + " of a step's result; it has " + count + " rows");
        }
    }

    /// {@return `[width]`, to be filled with a row's logits and kept until the next step begins}
    ///
    /// @param row 0 to [#count()] - 1
    public float[] keep(int row) {
        if (kept.length != count) {
            kept = new float[count][];
        }
        kept[row] = new float[width];
        return kept[row];
    }

    /// Copies a row that was kept.
    ///
    /// @param row 0 to [#count()] - 1
    /// @param target receives `[width]`
    /// @return whether this step's rows were kept; if not, nothing is copied
    public boolean copyKept(int row, float[] target) {
        if (kept.length == 0) {
            return false;
        }
        System.arraycopy(kept[row], 0, target, 0, width);
        return true;
    }
}
