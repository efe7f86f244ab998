package dev.tenon.platform.core.steps;

/// What bounds and shapes the steps of a [StepLoop].
///
/// @param maxBatchTokens most tokens of a step
/// @param maxSequences most sequences of a step
/// @param prefillMillis how long a step with prompts in it may take while sequences wait for their next tokens; 0
///     without limit
/// @param aloneMillis how long a step of prompts alone may take, whose end a new prompt waits for; 0 without limit
/// @param prefixCache whether tokens at the beginning that were computed for one sequence are used for others
/// @param checkpoints what states from which others go on may take besides the device's memory
public record StepLimits(
        int maxBatchTokens,
        int maxSequences,
        int prefillMillis,
        int aloneMillis,
        boolean prefixCache,
        CheckpointLimits checkpoints) {}
