package dev.tenon.api.device;

import org.osgi.annotation.versioning.ConsumerType;

/// What a step gave: logits, and tokens where the plan chose some. Owned by the plan; valid until
/// its next step.
@ConsumerType
public interface StepResult {
    /// {@return number of rows with logits, in the order of their tokens}
    int rows();

    /// Copies the logits of a row.
    ///
    /// @param row 0 to [#rows()] - 1
    /// @param target receives `[nVocab]`
    void logits(int row, float[] target);

    /// {@return the token that the plan chose behind a row in the way that [StepInput#choice] says;
    /// -1 if it chose none, because nothing was said, it cannot choose in this way, or the logits
    /// are no numbers to choose from: then the logits are there for it. A plan chooses for all
    /// rows, for some or for none, and may do otherwise in the next step}
    ///
    /// @param row 0 to [#rows()] - 1
    default int token(int row) {
        return -1;
    }
}
