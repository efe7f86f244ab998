package dev.tenon.api.text;

/// Has the temperature depend on how sure the model is: from `max(0, temperature - range)` for one token to
/// `temperature + range` for equal ones, by `(entropy / greatest entropy) ^ exponent` between them.
///
/// @param range 0 switches it off
/// @param exponent above 0
public record DynamicTemperature(float range, float exponent) {
    /// Changes nothing.
    public static final DynamicTemperature OFF = new DynamicTemperature(0, 1);

    /// Checks the numbers.
    ///
    /// @throws IllegalArgumentException if one is out of its range
    public DynamicTemperature {
        SamplingParams.require(range >= 0, "dynamicTemperature.range", range, "0 or more");
        SamplingParams.require(exponent > 0, "dynamicTemperature.exponent", exponent, "above 0");
    }
}
