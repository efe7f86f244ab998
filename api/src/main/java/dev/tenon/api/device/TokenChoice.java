package dev.tenon.api.device;

/// How the next token of a sequence is chosen from its logits, in a form that a device can carry out:
/// top-k, top-p, min-p, temperature, draw, in this order, each as the platform's sampler does it. Of
/// equal logits the one with the lower id is the better.
///
/// The draw takes one number a token from SplitMix64 as [java.util.SplittableRandom] has it: the `i`-th
/// number, from 0, of `new SplittableRandom(seed)`, where `i` is `drawn` for the first token and one more
/// for each further one. A token that needs no draw, because only one is left, uses up a number too.
///
/// @param temperature above 0; 0 takes the best token and uses no random numbers
/// @param topK keep this many best tokens; 0 keeps all
/// @param topP keep the smallest set whose probability reaches this; 1 keeps all
/// @param minP drop tokens below this share of the best token's probability; 0 keeps all
/// @param seed start of the random numbers
/// @param drawn how many of them have been used
public record TokenChoice(float temperature, int topK, float topP, float minP, long seed, long drawn) {
    /// The best token.
    public static final TokenChoice GREEDY = new TokenChoice(0, 0, 1, 0, 0, 0);
}
