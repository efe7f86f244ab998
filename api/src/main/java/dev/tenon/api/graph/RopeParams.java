package dev.tenon.api.graph;

import java.util.Optional;

/// How rotary position embedding (RoPE, Su et al. 2021) turns pairs of elements of each head.
///
/// Pair `i` of `ropeDim / 2` is rotated by `position * frequency(i) / factor[i]`, and both of its elements are
/// multiplied by `attentionFactor`. [#frequency(int)] is `freqScale * freqBase^(-2i / ropeDim)`, changed by
/// [Yarn] if that is there.
///
/// @param headDim elements in a head; a row holds whole heads
/// @param ropeDim how many elements of each head are rotated, even, at most `headDim`; the rest pass
///     unchanged
/// @param pairing which two elements make a pair
/// @param freqBase base of the frequencies, such as 10000
/// @param freqScale factor on positions; 1 unless linear scaling is used
/// @param freqFactors divisors, one a pair (`rope_freqs.weight`, or one of `rope_factors_long.weight` and
///     `rope_factors_short.weight`), or empty
/// @param yarn scaling of long contexts, or empty
/// @param attentionFactor factor on sines and cosines (`rope.scaling.attn_factor`; with YaRN usually
///     `1 + 0.1 ln(factor)`); 1 for none
public record RopeParams(
        int headDim,
        int ropeDim,
        Pairing pairing,
        float freqBase,
        float freqScale,
        Optional<Weight> freqFactors,
        Optional<Yarn> yarn,
        float attentionFactor) {
    /// Which two elements of a head are rotated together.
    public enum Pairing {
        /// Elements `2i` and `2i + 1` (llama; ggml calls it NORM).
        INTERLEAVED,
        /// Elements `i` and `i + ropeDim / 2` (qwen and most others; ggml calls it NEOX).
        HALF_SPLIT
    }

    /// YaRN (Peng et al. 2023): pairs that turn less than `betaSlow` times in the original context get the
    /// frequency divided by `factor`, those that turn more than `betaFast` times keep it, the ones between
    /// change gradually.
    ///
    /// @param factor how much longer the context is than the original one
    /// @param originalContextLength positions that the model was trained for
    /// @param betaFast turns, usually 32
    /// @param betaSlow turns, usually 1
    public record Yarn(float factor, int originalContextLength, float betaFast, float betaSlow) {
        /// Checks the numbers.
        public Yarn {
            if (!(factor > 0) || originalContextLength < 1 || !(betaSlow > 0) || !(betaFast > betaSlow)) {
                throw new IllegalArgumentException("YaRN with factor " + factor + ", original context length "
                        + originalContextLength + ", beta " + betaFast + " and " + betaSlow
                        + "; expected positive numbers, the fast beta above the slow one");
            }
        }
    }

    /// Checks the sizes.
    public RopeParams {
        if (headDim < 1 || ropeDim < 2 || ropeDim % 2 != 0 || ropeDim > headDim) {
            throw new IllegalArgumentException("rope dimension " + ropeDim + " does not fit heads of " + headDim);
        }
        if (freqFactors.isPresent()
                && (!freqFactors.get().isVector() || freqFactors.get().cols() != ropeDim / 2)) {
            throw new IllegalArgumentException(
                    "rope factors " + freqFactors.get() + " are not one for each of " + ropeDim / 2 + " pairs");
        }
    }

    /// Rotation without YaRN and attention factor.
    ///
    /// @param headDim elements in a head
    /// @param ropeDim how many of them are rotated
    /// @param pairing which two make a pair
    /// @param freqBase base of the frequencies
    /// @param freqScale factor on positions
    /// @param freqFactors divisors or empty
    public RopeParams(
            int headDim, int ropeDim, Pairing pairing, float freqBase, float freqScale, Optional<Weight> freqFactors) {
        this(headDim, ropeDim, pairing, freqBase, freqScale, freqFactors, Optional.empty(), 1);
    }

    /// {@return the angle of a pair at position 1, not divided by its factor yet}
    ///
    /// @param pair 0 to `ropeDim / 2 - 1`
    public double frequency(int pair) {
        double frequency = freqScale * Math.pow(freqBase, -2.0 * pair / ropeDim);
        if (yarn.isEmpty()) {
            return frequency;
        }
        double from = Math.max(0, Math.floor(pairTurning(yarn.get().betaFast())));
        double to = Math.min(ropeDim - 1, Math.ceil(pairTurning(yarn.get().betaSlow())));
        double interpolated = Math.clamp((pair - from) / Math.max(0.001, to - from), 0, 1);
        return frequency * (1 - interpolated + interpolated / yarn.get().factor());
    }

    /// The pair, as a real number, that turns so many times in the original context.
    private double pairTurning(double turns) {
        return ropeDim
                * Math.log(yarn.get().originalContextLength() / (2 * Math.PI * turns))
                / (2 * Math.log(freqBase));
    }
}
