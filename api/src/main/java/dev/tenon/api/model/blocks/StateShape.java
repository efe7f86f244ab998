package dev.tenon.api.model.blocks;

import dev.tenon.api.model.ModelKeys;

/// Sizes of the layers with a state, of the keys `ssm.*`.
///
/// @param inner width of what the heads give together (`ssm.inner_size`)
/// @param heads number of heads (`ssm.time_step_rank`)
/// @param groups number of groups, or of key heads, that heads share (`ssm.group_count`)
/// @param stateLength elements of the state for each element of a head (`ssm.state_size`)
/// @param taps tokens that the convolution sees (`ssm.conv_kernel`)
public record StateShape(int inner, int heads, int groups, int stateLength, int taps) {
    private static final int MAX_WIDTH = 1 << 24;
    private static final int MAX_TAPS = 1 << 10;

    /// Reads the sizes.
    ///
    /// @param keys the file's keys
    /// @return the sizes, which fit together
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-001`, `MODEL-002`) if a key is missing or
    ///     impossible
    public static StateShape read(ModelKeys keys) {
        int inner = keys.integer("ssm.inner_size", 1, MAX_WIDTH);
        int heads = keys.integer("ssm.time_step_rank", 1, inner);
        if (inner % heads != 0) {
            throw keys.impossible("ssm.time_step_rank", heads, "a divisor of the inner size, " + inner);
        }
        int groups = keys.integer("ssm.group_count", 1, heads);
        if (heads % groups != 0) {
            throw keys.impossible("ssm.group_count", groups, "a divisor of " + heads + " heads");
        }
        int stateLength = keys.integer("ssm.state_size", 1, MAX_WIDTH / (2 * groups));
        return new StateShape(inner, heads, groups, stateLength, keys.integer("ssm.conv_kernel", 1, MAX_TAPS));
    }

    /// {@return width of what the convolution works on: what the heads and the groups read}
    public int convolved() {
        return inner + 2 * groups * stateLength;
    }
}
