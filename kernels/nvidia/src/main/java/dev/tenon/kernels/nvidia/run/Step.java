package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.StepInput;
import dev.tenon.kernels.nvidia.step.StepLayout;
import dev.tenon.kernels.nvidia.step.StepShape;

/// One run of a plan's launches, whose input the host has written.
///
/// @param shape its sizes, for which the launches are planned
/// @param layout where its input lies
/// @param input its tokens; borrowed until the run has ended
/// @param sendsLogits whether its rows of logits go to the host as its last part
public record Step(StepShape shape, StepLayout layout, StepInput input, boolean sendsLogits) {
    /// {@return whether the device samples tokens}
    public boolean samples() {
        return shape.candidates() > 0;
    }
}
