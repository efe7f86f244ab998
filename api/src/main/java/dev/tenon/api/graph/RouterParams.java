package dev.tenon.api.graph;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// How a router chooses experts and weighs them; named as the `expert_*` keys of GGUF. Immutable; made by
/// [#builder(Gating, int)].
///
/// A probability `p[e]` is the gating function of the logits. The score of an expert is its probability plus
/// its bias. The `used` experts with the highest scores are chosen, the first one of equals. Weights are
/// their probabilities, without the bias; divided by their sum, or by [#LEAST_SUM] if that is larger, if
/// `normalise` says so; then times `scale`.
///
/// With more than one group, experts stand in `groups` runs of the same length. The score of a run is the sum
/// of its two highest scores, and only experts of the `groupsUsed` highest runs can be chosen.
public final class RouterParams {
    /// What makes probabilities of a router's logits.
    public enum Gating {
        /// Softmax over all experts.
        SOFTMAX,
        /// `1 / (1 + exp(-logit))` of each.
        SIGMOID,
        /// `sqrt(log(1 + exp(logit)))` of each.
        SOFTPLUS_ROOT
    }

    /// The least sum that weights are divided by, 2^-14.
    public static final float LEAST_SUM = 0x1p-14f;

    private final Gating gating;
    private final int used;
    private final boolean normalise;
    private final float scale;
    private final Optional<Weight> bias;
    private final int groups;
    private final int groupsUsed;

    private RouterParams(Builder builder) {
        this.gating = builder.gating;
        this.used = builder.used;
        this.normalise = builder.normalise;
        this.scale = builder.scale;
        this.bias = builder.bias;
        this.groups = builder.groups;
        this.groupsUsed = builder.groupsUsed;
    }

    /// {@return a builder of routing without normalisation, scale, bias and groups}
    ///
    /// @param gating makes probabilities of logits
    /// @param used how many experts a token uses, at least 1
    public static Builder builder(Gating gating, int used) {
        return new Builder(gating, used);
    }

    /// {@return a builder that starts with these values}
    public Builder toBuilder() {
        Builder builder = new Builder(gating, used);
        builder.normalise = normalise;
        builder.scale = scale;
        builder.bias = bias;
        builder.groups = groups;
        builder.groupsUsed = groupsUsed;
        return builder;
    }

    /// {@return what makes probabilities of logits}
    public Gating gating() {
        return gating;
    }

    /// {@return how many experts a token uses (`expert_used_count`)}
    public int used() {
        return used;
    }

    /// {@return whether weights are divided by their sum (`expert_weights_norm`)}
    public boolean normalise() {
        return normalise;
    }

    /// {@return the factor on weights (`expert_weights_scale`)}
    public float scale() {
        return scale;
    }

    /// {@return `[experts]`, added for the choice only (`exp_probs_b.bias`), or empty}
    public Optional<Weight> bias() {
        return bias;
    }

    /// {@return the number of groups (`expert_group_count`); 1 for none}
    public int groups() {
        return groups;
    }

    /// {@return how many groups experts are chosen from (`expert_group_used_count`)}
    public int groupsUsed() {
        return groupsUsed;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RouterParams that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "RouterParams" + values();
    }

    private List<Object> values() {
        return List.of(gating, used, normalise, scale, bias, groups, groupsUsed);
    }

    /// Builds one. Not safe for several threads.
    public static final class Builder {
        private final Gating gating;
        private final int used;
        private boolean normalise = false;
        private float scale = 1;
        private Optional<Weight> bias = Optional.empty();
        private int groups = 1;
        private int groupsUsed = 1;

        private Builder(Gating gating, int used) {
            this.gating = Objects.requireNonNull(gating, "gating");
            this.used = used;
        }

        /// Sets whether weights are divided by their sum; false by default.
        ///
        /// @param divide whether; with [Gating#SOFTMAX] the same as a softmax over the chosen logits only
        /// @return this
        public Builder normalise(boolean divide) {
            this.normalise = divide;
            return this;
        }

        /// Sets the factor on weights; 1 by default.
        ///
        /// @param factor finite
        /// @return this
        public Builder scale(float factor) {
            this.scale = factor;
            return this;
        }

        /// Sets what is added to probabilities for the choice only; nothing by default.
        ///
        /// @param vector `[experts]`, or empty
        /// @return this
        public Builder bias(Optional<Weight> vector) {
            this.bias = Objects.requireNonNull(vector, "bias");
            return this;
        }

        /// Sets the number of groups; 1, the default, for none.
        ///
        /// @param count divides the number of experts
        /// @return this
        public Builder groups(int count) {
            this.groups = count;
            return this;
        }

        /// Sets how many groups experts are chosen from; 1 by default.
        ///
        /// @param count at most the number of groups
        /// @return this
        public Builder groupsUsed(int count) {
            this.groupsUsed = count;
            return this;
        }

        /// {@return the parameters}
        ///
        /// @throws IllegalArgumentException if they do not fit together
        public RouterParams build() {
            if (used < 1 || groups < 1 || groupsUsed < 1 || groupsUsed > groups || !Float.isFinite(scale)) {
                throw new IllegalArgumentException("router that uses " + used + " experts of " + groupsUsed + " of "
                        + groups + " groups with scale " + scale);
            }
            return new RouterParams(this);
        }
    }
}
