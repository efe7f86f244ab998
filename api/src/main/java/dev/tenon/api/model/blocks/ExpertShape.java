package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelKeys;

/// How many experts a layer has, how wide they are, and how they are chosen.
///
/// @param count experts (`expert_count`)
/// @param used experts of a token (`expert_used_count`)
/// @param width elements between the two matrices of an expert
/// @param gating what makes probabilities of the router's logits
/// @param normalise whether the weights of the chosen ones are divided by their sum
/// @param scale factor on the weights
/// @param groups groups of experts; 1 for none
/// @param groupsUsed groups that experts are chosen from
public record ExpertShape(
        int count, int used, int width, Gating gating, boolean normalise, float scale, int groups, int groupsUsed) {
    private static final int MAX_EXPERTS = 1 << 16;
    /// So that the rows of all experts of a token have a length that fits an int.
    private static final int MAX_USED = 64;

    private static final int MAX_WIDTH = 1 << 24;
    private static final int OVER_CHOSEN = 3;

    /// Reads the keys that GGUF defines for experts. What an architecture fixes takes the place of a key that
    /// is missing; keys that are there win. Gating 3, a softmax over the chosen logits only, is a softmax that is
    /// normalised.
    ///
    /// @param keys the file's keys
    /// @param widthKey `expert_feed_forward_length`, or `feed_forward_length` where experts have no
    ///     width of their own
    /// @param gating of the architecture
    /// @param normalise of the architecture
    /// @return the shape
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-001`, `MODEL-002`) if a key is
    ///     missing or impossible
    /// @throws dev.tenon.api.error.UnsupportedModelException (`MODEL-003`) for another gating
    public static ExpertShape read(ModelKeys keys, String widthKey, Gating gating, boolean normalise) {
        int count = keys.integer("expert_count", 1, MAX_EXPERTS);
        int groups = Math.max(1, keys.integerOr("expert_group_count", 1, 0, count));
        if (count % groups != 0) {
            throw keys.impossible("expert_group_count", groups, "a divisor of " + count + " experts");
        }
        int groupsUsed = Math.max(1, keys.integerOr("expert_group_used_count", groups, 0, groups));
        float scale = keys.numberOr("expert_weights_scale", 1, 0, 1e6);
        return new ExpertShape(
                count,
                keys.integer("expert_used_count", 1, Math.min(MAX_USED, count / groups * groupsUsed)),
                keys.integer(widthKey, 1, MAX_WIDTH),
                gating(keys, gating),
                keys.flag("expert_weights_norm", normalise) || number(keys) == OVER_CHOSEN,
                scale == 0 ? 1 : scale,
                groups,
                groupsUsed);
    }

    /// Refuses a file with experts, for an architecture that has none.
    ///
    /// @param keys the file's keys
    /// @throws dev.tenon.api.error.UnsupportedModelException (`MODEL-003`) if the file has experts
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-001`) if it says no width but that of experts
    public static void none(ModelKeys keys) {
        int count = keys.integerOr("expert_count", 0, 0, Integer.MAX_VALUE);
        if (count > 0) {
            throw keys.unsupported("expert_count", count, "0, no mixture of experts");
        }
        if (!keys.has("feed_forward_length")) {
            keys.integer("feed_forward_length", 1, MAX_WIDTH);
        }
    }

    private static Gating gating(ModelKeys keys, Gating otherwise) {
        int number = number(keys);
        return switch (number) {
            case 0 -> otherwise;
            case 1, OVER_CHOSEN -> Gating.SOFTMAX;
            case 2 -> Gating.SIGMOID;
            case 4 -> Gating.SOFTPLUS_ROOT;
            default ->
                throw keys.unsupported("expert_gating_func", number, "1 to 4 (softmax, sigmoid, root of softplus)");
        };
    }

    private static int number(ModelKeys keys) {
        return keys.integerOr("expert_gating_func", 0, 0, Integer.MAX_VALUE);
    }

    /// {@return the parameters of the router, without a bias}
    public RouterParams.Builder router() {
        return RouterParams.builder(gating, used)
                .normalise(normalise)
                .scale(scale)
                .groups(groups)
                .groupsUsed(groupsUsed);
    }
}
