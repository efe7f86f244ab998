package dev.tenon.kernels.nvidia.step;

import dev.tenon.api.device.StepInput;

/// What a step's rows weight the change of an adapter with.
///
/// @param adapter which adapter of the graph, 0-based
/// @param factor factor beside the scale of a row's sequence
public record AdapterFactor(int adapter, float factor) {
    /// {@return the weight of a row; 0 if its sequence does not use the adapter}
    ///
    /// @param input the step
    /// @param row a row of it
    float of(StepInput input, int row) {
        return input.adapterScale(input.sequence(row), adapter) * factor;
    }
}
