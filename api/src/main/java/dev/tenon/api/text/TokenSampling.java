package dev.tenon.api.text;

/// How the next token of a sequence is sampled from its logits, where a device can do the same as the
/// platform's sampler: top-k, top-p, min-p, temperature, draw, in this order, each as
/// [SamplingParams] defines it. Of equal logits the one with the lower id is the better.
///
/// The draw takes one number a token from SplitMix64 as [java.util.SplittableRandom] has it: the
/// `i`-th number, from 0, of `new SplittableRandom(params.seed())`, where `i` is `drawn` for the first
/// token and one more for each further one. A token that needs no draw, because only one is left, uses
/// up a number too. At temperature 0 the best token is taken, and no number is used. Immutable.
///
/// @param params the policy, with [SamplingParams#logitsOnly()]. Its seed is the seed itself, -1
///     too
/// @param drawn how many random numbers have been used
public record TokenSampling(SamplingParams params, long drawn) {
    /// The best token.
    public static final TokenSampling GREEDY = new TokenSampling(SamplingParams.greedy(), 0);

    /// Checks that the logits are all that is needed.
    ///
    /// @throws IllegalArgumentException if the parameters need more, such as a bias or a penalty
    public TokenSampling {
        if (!params.logitsOnly()) {
            throw new IllegalArgumentException(
                    params + " needs more than top-k, top-p, min-p and temperature; sample on the host");
        }
    }
}
