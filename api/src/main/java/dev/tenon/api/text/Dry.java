package dev.tenon.api.text;

import java.util.List;

/// A penalty for tokens that go on with a repetition (DRY). Where the last tokens, `m` of them, occurred before, at
/// least `allowedLength`, the token that followed then loses `multiplier * base ^ (m - allowedLength)`.
///
/// @param multiplier 0 switches it off
/// @param base at least 1
/// @param allowedLength tokens that may be repeated; at least 1
/// @param lastN how many of the last tokens count; 0 none, -1 all
/// @param breakers token sequences that a repetition does not span; those of one token are never penalised;
///     unmodifiable
public record Dry(float multiplier, float base, int allowedLength, int lastN, List<List<Integer>> breakers) {
    /// Changes nothing; what holds where only the multiplier is given, but for breakers.
    public static final Dry OFF = new Dry(0, 1.75f, 2, -1, List.of());

    /// Copies the sequences.
    ///
    /// @throws IllegalArgumentException if a number is out of its range
    public Dry {
        SamplingParams.require(
                multiplier >= 0 && multiplier < Float.POSITIVE_INFINITY, "dry.multiplier", multiplier, "0 or more");
        SamplingParams.require(base >= 1 && base < Float.POSITIVE_INFINITY, "dry.base", base, "1 or more");
        SamplingParams.require(allowedLength >= 1, "dry.allowedLength", allowedLength, "1 or more");
        SamplingParams.require(lastN >= -1, "dry.lastN", lastN, "-1 or more");
        breakers = breakers.stream().map(List::copyOf).toList();
    }
}
