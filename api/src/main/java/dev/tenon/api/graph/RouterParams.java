package dev.tenon.api.graph;

import java.util.Optional;

/// How a router chooses experts and weighs them; named as the `expert_*` keys of GGUF.
///
/// A probability `p[e]` is the gating function of the logits. The score of an expert is its probability plus
/// its bias. The `used` experts with the highest scores are chosen, the first one of equals. Weights are
/// their probabilities, without the bias; divided by their sum, or by 2^-14 if that is larger, if `normalise`
/// says so; then times `scale`.
///
/// With more than one group, experts stand in `groups` runs of the same length. The score of a run is the sum
/// of its two highest scores, and only experts of the `groupsUsed` highest runs can be chosen.
///
/// @param gating makes probabilities of logits
/// @param used how many experts a token uses (`expert_used_count`)
/// @param normalise whether weights are divided by their sum (`expert_weights_norm`); with [Gating#SOFTMAX]
///     the same as a softmax over the chosen logits only
/// @param scale factor on weights (`expert_weights_scale`), 1 for none
/// @param bias `[experts]`, added for the choice only (`exp_probs_b.bias`), or empty
/// @param groups number of groups (`expert_group_count`), 1 for none
/// @param groupsUsed groups that experts are chosen from (`expert_group_used_count`)
public record RouterParams(
        Gating gating, int used, boolean normalise, float scale, Optional<Weight> bias, int groups, int groupsUsed) {
    /// What makes probabilities of a router's logits.
    public enum Gating {
        /// Softmax over all experts.
        SOFTMAX,
        /// `1 / (1 + exp(-logit))` of each.
        SIGMOID
    }

    /// The least sum that weights are divided by.
    public static final float LEAST_SUM = 0x1p-14f;

    /// Checks the numbers.
    public RouterParams {
        if (used < 1 || groups < 1 || groupsUsed < 1 || groupsUsed > groups || !Float.isFinite(scale)) {
            throw new IllegalArgumentException("router that uses " + used + " experts of " + groupsUsed + " of "
                    + groups + " groups with scale " + scale);
        }
    }

    /// Routing without bias and groups.
    ///
    /// @param gating makes probabilities of logits
    /// @param used how many experts a token uses
    /// @param normalise whether weights are divided by their sum
    public RouterParams(Gating gating, int used, boolean normalise) {
        this(gating, used, normalise, 1, Optional.empty(), 1, 1);
    }
}
