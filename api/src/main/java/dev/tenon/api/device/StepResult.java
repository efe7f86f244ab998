package dev.tenon.api.device;

import org.osgi.annotation.versioning.ConsumerType;

/// What a step computed: logits, sampled tokens where the plan sampled some, and named outputs. Owned
/// by the plan; valid until its next step.
@ConsumerType
public interface StepResult {
    /// {@return number of rows with logits, in the order of their tokens}
    int rows();

    /// Copies the logits of a row.
    ///
    /// @param row 0 to [#rows()] - 1
    /// @param target receives `[vocabularySize]`
    void logits(int row, float[] target);

    /// {@return the token that the plan sampled for a row as [StepInput#sampling] describes, among those
    /// of [StepInput#mask]; -1 if it sampled none, because none was asked for, it cannot sample like
    /// that, or their logits hold a NaN or nothing above negative infinity: then the logits are there,
    /// without the mask. A plan samples for all rows, for some or for none, and may do otherwise in the
    /// next step}
    ///
    /// @param row 0 to [#rows()] - 1
    default int token(int row) {
        return -1;
    }

    /// {@return number of rows of a named output: of all tokens of the step, or of those whose logits
    /// are wanted, as the graph has it}
    ///
    /// @param output its name, as in [dev.tenon.api.graph.Graph#outputs()]
    /// @throws IllegalArgumentException if the plan's graph has no such output
    default int rows(String output) {
        throw new IllegalArgumentException("the plan has no output " + output);
    }

    /// Copies a row of a named output.
    ///
    /// @param output its name, as in [dev.tenon.api.graph.Graph#outputs()]
    /// @param row 0 to [#rows(String)] - 1, in the order of the tokens
    /// @param target receives `[width]`
    /// @throws IllegalArgumentException if the plan's graph has no such output
    default void output(String output, int row, float[] target) {
        throw new IllegalArgumentException("the plan has no output " + output);
    }
}
