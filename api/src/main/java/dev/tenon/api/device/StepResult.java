package dev.tenon.api.device;

import org.osgi.annotation.versioning.ConsumerType;

/// What a step gave. Owned by the plan; valid until its next step.
@ConsumerType
public interface StepResult {
    /// {@return number of rows with logits, in the order of their tokens}
    int rows();

    /// Copies the logits of a row.
    ///
    /// @param row 0 to [#rows()] - 1
    /// @param target receives `[nVocab]`
    void logits(int row, float[] target);
}
