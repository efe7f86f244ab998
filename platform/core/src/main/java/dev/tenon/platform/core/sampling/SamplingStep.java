package dev.tenon.platform.core.sampling;

/// One step on the way from logits to a token: changes logits or removes candidates, never all of them.
///
/// Steps may keep scratch memory and state of their sequence, so each sequence has its own; not safe for
/// several threads.
@FunctionalInterface
interface SamplingStep {
    /// Applies the step.
    ///
    /// @param c the candidates, at least one; changed in place; borrowed, not kept
    void apply(Candidates c);
}
