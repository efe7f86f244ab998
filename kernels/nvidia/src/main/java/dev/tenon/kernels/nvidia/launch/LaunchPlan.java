package dev.tenon.kernels.nvidia.launch;

import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.List;

/// The ops of a plan in order, from which the launches of a step of any shape are made.
///
/// @param limits what steps have in common
/// @param traits the device
/// @param ops the ops; unmodifiable
/// @param output where the logits are
/// @param scratch memory that all ops share
/// @param step the buffer of the step's input
public record LaunchPlan(
        StepLimits limits, DeviceTraits traits, List<PlannedOp> ops, Slot output, Scratch scratch, BufferSpec step) {
    public LaunchPlan {
        ops = List.copyOf(ops);
    }

    /// Hears how much scratch memory launches need.
    @FunctionalInterface
    public interface Needs {
        /// @param buffer a scratch buffer
        /// @param bytes what it has to hold at least
        void need(BufferSpec buffer, long bytes);
    }

    /// {@return the launches of a step, in order}
    ///
    /// @param shape the step's sizes
    /// @param needs hears how much memory they need
    public List<Launch> launches(StepShape shape, Needs needs) {
        Emission emission = new Emission(this, shape, needs);
        for (int i = 0; i < ops.size(); i++) {
            PlannedOp op = ops.get(i);
            if (op.selected() ? shape.logitRows() > 0 : shape.rows() > 0) {
                emission.begin(i);
                op.emitter().emit(emission);
            }
        }
        if (shape.candidates() > 0) {
            emission.begin(ops.size() - 1);
            emission.choose(output);
        }
        return List.copyOf(emission.launches());
    }
}
