package dev.tenon.api.graph;

import java.util.List;

/// Scales each row by a factor that grows with its position's logarithm:
/// `out[t] = x[t] * (1 + gain * ln(1 + floor((position[t] + offset) / period)))`.
///
/// Models that attend beyond the context they were trained for scale their queries so (Llama 4, Ministral 3),
/// because a softmax over more keys is flatter. Keys in the cache stay as they are.
///
/// @param x `[T, width]`
/// @param gain factor on the logarithm, such as 0.1
/// @param offset added to positions, 0 or 1
/// @param period positions after which the factor grows, at least 1
/// @param out `[T, width]`
public record PositionScale(Value x, float gain, int offset, int period, Value out) implements Op {
    /// Checks widths and numbers.
    public PositionScale {
        Shapes.sameWidth("position_scale", out, x);
        Shapes.check(
                Float.isFinite(gain) && offset >= 0 && period > 0,
                "position_scale",
                "has gain " + gain + ", offset " + offset + " and period " + period
                        + "; expected a finite number, 0 or more, and 1 or more",
                out);
    }

    /// {@return the factor of a row}
    ///
    /// @param position its token's
    public float factor(int position) {
        return (float) (1 + gain * Math.log(1 + Math.floorDiv(position + (long) offset, period)));
    }

    @Override
    public String kind() {
        return "position_scale";
    }

    @Override
    public List<Value> inputs() {
        return List.of(x);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }
}
