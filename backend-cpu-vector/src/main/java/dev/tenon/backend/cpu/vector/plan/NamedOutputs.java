package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.StepResult;

/// What a step gave, with the outputs that the graph has beside its default one.
interface NamedOutputs extends StepResult {
    /// {@return number of rows of an output: of all tokens of the step, or of those that wanted logits}
    ///
    /// @param output its name in the graph
    /// @throws IllegalArgumentException if the graph has no such output
    int rows(String output);

    /// Copies a row of an output.
    ///
    /// @param output its name in the graph
    /// @param row 0 to [#rows(String)] - 1
    /// @param target receives `[width]`
    void output(String output, int row, float[] target);
}
