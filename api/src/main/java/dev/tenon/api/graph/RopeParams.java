package dev.tenon.api.graph;

import java.util.Optional;

/// How rotary position embedding (RoPE, Su et al. 2021) turns pairs of elements of each head.
///
/// Pair `i` of `ropeDim / 2` is rotated by `position * freqScale * freqBase^(-2i / ropeDim) / factor[i]`.
///
/// @param headDim elements in a head; a row holds whole heads
/// @param ropeDim how many elements of each head are rotated, even, at most `headDim`; the rest pass
///     unchanged
/// @param pairing which two elements make a pair
/// @param freqBase base of the frequencies, such as 10000
/// @param freqScale factor on positions; 1 unless linear scaling is used
/// @param freqFactors divisors, one a pair (`rope_freqs.weight`), or empty
public record RopeParams(
        int headDim, int ropeDim, Pairing pairing, float freqBase, float freqScale, Optional<Weight> freqFactors) {
    /// Which two elements of a head are rotated together.
    public enum Pairing {
        /// Elements `2i` and `2i + 1` (llama; ggml calls it NORM).
        INTERLEAVED,
        /// Elements `i` and `i + ropeDim / 2` (qwen and most others; ggml calls it NEOX).
        HALF_SPLIT
    }

    /// Checks the sizes.
    public RopeParams {
        if (headDim < 1 || ropeDim < 2 || ropeDim % 2 != 0 || ropeDim > headDim) {
            throw new IllegalArgumentException("rope dimension " + ropeDim + " does not fit heads of " + headDim);
        }
    }
}
