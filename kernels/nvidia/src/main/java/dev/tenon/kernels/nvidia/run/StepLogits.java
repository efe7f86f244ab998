package dev.tenon.kernels.nvidia.run;

/// The rows of logits of the last run, as the host gets them. Used in the plan's turn.
public interface StepLogits {
    /// {@return whether so many rows, if they are sent with the step, are on the host when it has ended}
    ///
    /// @param rows how many, at least 1
    boolean arrivesWith(int rows);

    /// Begins a step: rows that arrive with it are those that [#take] takes.
    void begin();

    /// Brings rows to the host and waits for them; [#take] takes them from then on. May be called outside a
    /// step, from any thread.
    ///
    /// @param firstRow first row on the device
    /// @param count how many
    void fetch(int firstRow, int count);

    /// Copies a row that is on the host.
    ///
    /// @param row index among those that arrived or were fetched
    /// @param target receives it
    void take(int row, float[] target);
}
