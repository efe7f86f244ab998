package dev.tenon.api.text;

/// Has tokens surprise by a number of bits on average (Basu et al. 2021): after penalties and temperature it takes the
/// place of all other steps. A token of probability p surprises by -log2 p bits.
///
/// @param version 1 estimates how probabilities fall and keeps the best tokens, 2 drops tokens that surprise too much;
///     0 switches it off
/// @param tau bits
/// @param eta how fast it learns from each token
public record Mirostat(int version, float tau, float eta) {
    /// Changes nothing.
    public static final Mirostat OFF = new Mirostat(0, 5, 0.1f);

    /// Checks the numbers.
    ///
    /// @throws IllegalArgumentException if one is out of its range
    public Mirostat {
        SamplingParams.require(version >= 0 && version <= 2, "mirostat.version", version, "0, 1 or 2");
        SamplingParams.require(tau >= 0, "mirostat.tau", tau, "0 or more");
        SamplingParams.require(eta >= 0, "mirostat.eta", eta, "0 or more");
    }
}
