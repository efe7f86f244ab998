package dev.tenon.api.graph;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// How [CoreOp.Attention] attends. Immutable; made by [#builder(int, int, float)].
///
/// A causal token sees the positions up to its own, the last `slidingWindow` of them, itself included,
/// if there is a window; if there are chunks, only those of its own run of `chunk` positions. A token of an encoder
/// (not causal) sees all positions of its sequence up to the
/// last one of this step, with a window `w` those at most `w / 2` before or after its own: an encoder's
/// sequence has to be in one step, because nothing sees what a later step brings.
///
/// With `spans`, a token may have a span: neighbours of its sequence that are in one step with it, such as those of
/// a picture ([dev.tenon.api.device.StepInput#span]). A causal token sees those of its span that come after it,
/// too; one of an encoder sees its span alone.
public final class AttentionParams {
    private final int headCount;
    private final int headCountKv;
    private final float scale;
    private final int slidingWindow;
    private final float softCap;
    private final boolean causal;
    private final Optional<Weight> sinks;
    private final int chunk;
    private final boolean valuesInKeys;
    private final Optional<ScoreBias> scoreBias;
    private final boolean spans;

    private AttentionParams(Builder builder) {
        this.headCount = builder.headCount;
        this.headCountKv = builder.headCountKv;
        this.scale = builder.scale;
        this.slidingWindow = builder.slidingWindow;
        this.softCap = builder.softCap;
        this.causal = builder.causal;
        this.sinks = builder.sinks;
        this.chunk = builder.chunk;
        this.valuesInKeys = builder.valuesInKeys;
        this.scoreBias = builder.scoreBias;
        this.spans = builder.spans;
    }

    /// {@return a builder of causal attention without window, soft cap and sinks}
    ///
    /// @param headCount query heads, a multiple of `headCountKv`
    /// @param headCountKv key and value heads, at least 1
    /// @param scale factor on scores, usually `1 / sqrt(keyLength)`
    public static Builder builder(int headCount, int headCountKv, float scale) {
        return new Builder(headCount, headCountKv, scale);
    }

    /// {@return a builder that starts with these values}
    public Builder toBuilder() {
        Builder builder = new Builder(headCount, headCountKv, scale);
        builder.slidingWindow = slidingWindow;
        builder.softCap = softCap;
        builder.causal = causal;
        builder.sinks = sinks;
        builder.chunk = chunk;
        builder.valuesInKeys = valuesInKeys;
        builder.scoreBias = scoreBias;
        builder.spans = spans;
        return builder;
    }

    /// {@return the number of query heads, a multiple of `headCountKv`}
    public int headCount() {
        return headCount;
    }

    /// {@return the number of key and value heads}
    public int headCountKv() {
        return headCountKv;
    }

    /// {@return the factor on scores}
    public float scale() {
        return scale;
    }

    /// {@return how many positions a token sees; 0 sees all}
    public int slidingWindow() {
        return slidingWindow;
    }

    /// {@return the cap on scores; 0 for none}
    public float softCap() {
        return softCap;
    }

    /// {@return whether a token sees only what is before it}
    public boolean causal() {
        return causal;
    }

    /// {@return `[headCount]`, one more score of each head in the denominator of the softmax, or empty}
    public Optional<Weight> sinks() {
        return sinks;
    }

    /// {@return the positions of a run, of which a token sees its own only; 0 for one run}
    public int chunk() {
        return chunk;
    }

    /// {@return whether a value head is the beginning of its key head, so that who keeps keys need not keep values}
    public boolean valuesInKeys() {
        return valuesInKeys;
    }

    /// {@return what is added to scores by distance, or empty}
    public Optional<ScoreBias> scoreBias() {
        return scoreBias;
    }

    /// {@return whether spans of tokens matter}
    public boolean spans() {
        return spans;
    }

    /// {@return the first position that a token sees, its span aside}
    ///
    /// @param position the token's
    public int firstSeen(int position) {
        int before = causal ? slidingWindow - 1 : slidingWindow / 2;
        int start = chunk == 0 ? 0 : position / chunk * chunk;
        return slidingWindow == 0 ? start : Math.max(start, position - before);
    }

    /// {@return the last position that a token sees, its span aside}
    ///
    /// @param position the token's
    /// @param last the last position of its sequence in the step
    public int lastSeen(int position, int last) {
        if (causal) {
            return position;
        }
        return slidingWindow == 0 ? last : (int) Math.min(last, (long) position + slidingWindow / 2);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AttentionParams that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "AttentionParams" + values();
    }

    private List<Object> values() {
        return List.of(
                headCount,
                headCountKv,
                scale,
                slidingWindow,
                softCap,
                causal,
                sinks,
                chunk,
                valuesInKeys,
                scoreBias,
                spans);
    }

    /// Builds one. Not safe for several threads.
    public static final class Builder {
        private final int headCount;
        private final int headCountKv;
        private final float scale;
        private int slidingWindow = 0;
        private float softCap = 0;
        private boolean causal = true;
        private Optional<Weight> sinks = Optional.empty();
        private int chunk = 0;
        private boolean valuesInKeys = false;
        private Optional<ScoreBias> scoreBias = Optional.empty();
        private boolean spans = false;

        private Builder(int headCount, int headCountKv, float scale) {
            this.headCount = headCount;
            this.headCountKv = headCountKv;
            this.scale = scale;
        }

        /// Sets how many positions a token sees; 0, the default, sees all.
        ///
        /// @param positions the window, 0 or more
        /// @return this
        public Builder slidingWindow(int positions) {
            this.slidingWindow = positions;
            return this;
        }

        /// Sets the cap on scores: a score `s` becomes `cap * tanh(s / cap)`.
        ///
        /// @param cap the cap; 0, the default, for none
        /// @return this
        public Builder softCap(float cap) {
            this.softCap = cap;
            return this;
        }

        /// Sets whether a token sees only what is before it; true by default.
        ///
        /// @param only false for an encoder
        /// @return this
        public Builder causal(boolean only) {
            this.causal = only;
            return this;
        }

        /// Sets attention sinks: one more score of each head in the denominator of the softmax, neither scaled nor
        /// capped, and without a value; none by default.
        ///
        /// @param weight `[headCount]`, or empty
        /// @return this
        public Builder sinks(Optional<Weight> weight) {
            this.sinks = Objects.requireNonNull(weight, "sinks");
            return this;
        }

        /// Sets the length of runs that the positions of a sequence are cut into, from its start on: a causal token
        /// sees its own run only.
        ///
        /// @param positions of a run; 0, the default, for one run
        /// @return this
        public Builder chunk(int positions) {
            this.chunk = positions;
            return this;
        }

        /// Says that a value head is the beginning of its key head, as in latent attention (DeepSeek-AI 2024): a
        /// promise, which changes no result.
        ///
        /// @param beginning whether; false by default
        /// @return this
        public Builder valuesInKeys(boolean beginning) {
            this.valuesInKeys = beginning;
            return this;
        }

        /// Sets what is added to scores, scaled and capped, by the distance of key and query; nothing by default.
        ///
        /// @param bias for all query heads, or empty
        /// @return this
        public Builder scoreBias(Optional<ScoreBias> bias) {
            this.scoreBias = Objects.requireNonNull(bias, "bias");
            return this;
        }

        /// Sets whether spans of tokens matter; false by default.
        ///
        /// @param matter whether
        /// @return this
        public Builder spans(boolean matter) {
            this.spans = matter;
            return this;
        }

        /// {@return the parameters}
        ///
        /// @throws IllegalArgumentException if they do not fit together
        public AttentionParams build() {
            if (headCountKv < 1 || headCount < 1 || headCount % headCountKv != 0) {
                throw new IllegalArgumentException("attention with " + headCount + "/" + headCountKv
                        + " heads; expected a multiple of the key and value heads");
            }
            if (slidingWindow < 0 || !(softCap >= 0)) {
                throw new IllegalArgumentException(
                        "attention with window " + slidingWindow + ", soft cap " + softCap + "; expected none below 0");
            }
            if (chunk < 0 || chunk > 0 && !causal) {
                throw new IllegalArgumentException("attention with runs of " + chunk + " positions"
                        + (causal ? "; expected 0 or more" : "; expected none without a causal mask"));
            }
            if (sinks.isPresent() && (!sinks.get().isVector() || sinks.get().cols() != headCount)) {
                throw new IllegalArgumentException(
                        "attention sinks " + sinks.get() + "; expected a vector of " + headCount);
            }
            if (scoreBias.isPresent() && scoreBias.get().headCount() != headCount) {
                throw new IllegalArgumentException("a bias of scores for "
                        + scoreBias.get().headCount() + " heads; expected one for " + headCount);
            }
            return new AttentionParams(this);
        }
    }
}
