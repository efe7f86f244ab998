package dev.tenon.api.text;

/// Drops, by chance, all but the least probable of the tokens that are probable enough (XTC).
///
/// @param probability how often, 0 to 1; 0 switches it off. It uses a random number for each token
/// @param threshold what is probable enough, 0 to 1; above 0.5 switches it off
public record Xtc(float probability, float threshold) {
    /// Changes nothing.
    public static final Xtc OFF = new Xtc(0, 0.1f);

    /// Checks the numbers.
    ///
    /// @throws IllegalArgumentException if one is out of its range
    public Xtc {
        SamplingParams.require(probability >= 0 && probability <= 1, "xtc.probability", probability, "0 to 1");
        SamplingParams.require(threshold >= 0 && threshold <= 1, "xtc.threshold", threshold, "0 to 1");
    }
}
