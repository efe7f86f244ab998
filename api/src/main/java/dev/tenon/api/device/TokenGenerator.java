package dev.tenon.api.device;

import dev.tenon.api.text.TokenSampling;
import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Runs steps in which the device samples the tokens and feeds each to the next step itself: logits stay
/// where they are, and no step waits for the host. Belongs to a plan and shares its cache; calls come one
/// after the other with those of [Plan#run], from any thread.
@ConsumerType
public interface TokenGenerator {
    /// {@return whether the device can sample like this}
    ///
    /// @param sampling the way
    boolean supports(TokenSampling sampling);

    /// Runs steps of one token for each sequence. The first step runs the tokens of `input`; each
    /// further one runs, one position later, the tokens that the step before it sampled.
    ///
    /// Sampled tokens reach the sink as they come. When it has enough, the steps that
    /// are under way end without a call of it: they leave keys and values at positions after the last
    /// token that the sink took, which a later step may overwrite, and states of no use, as a step
    /// does that failed. After the last step that was asked for, states are those of all tokens that ran.
    ///
    /// @param input one token a sequence, all of them wanting logits, without masks; the page tables
    ///     hold the pages of `steps` positions from the token's on; borrowed until the call returns
    /// @param samplings how to sample, one a sequence, each of them supported
    /// @param steps most steps, at least 1
    /// @param sink hears of each step, in order, on the calling thread
    /// @throws IllegalArgumentException if the input exceeds the plan's limits or is not as said above
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-003`) if the device failed, (`MODEL-007`) if
    ///     a logit is not a finite number or none is above negative infinity
    void generate(StepInput input, List<TokenSampling> samplings, int steps, TokenSink sink);

    /// Takes sampled tokens.
    @FunctionalInterface
    interface TokenSink {
        /// Takes the tokens of a step.
        ///
        /// @param tokens one a sequence, in their order; borrowed until the call returns
        /// @return whether to go on
        boolean accept(int[] tokens);
    }
}
