package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.DefaultChatRequestParameters;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Parameters of a request, with those that only this kind of model has. Immutable.
public final class TenonChatRequestParameters extends DefaultChatRequestParameters {
    private final @Nullable Long seed;
    private final @Nullable Double minP;
    private final @Nullable Double repeatPenalty;

    private TenonChatRequestParameters(Builder builder) {
        super(builder);
        seed = builder.seed;
        minP = builder.minP;
        repeatPenalty = builder.repeatPenalty;
    }

    /// {@return a builder without any parameters}
    public static Builder builder() {
        return new Builder();
    }

    /// {@return the start of the random sequence: the same seed gives the same text; null for a random one}
    public @Nullable Long seed() {
        return seed;
    }

    /// {@return the share of the best token's probability below which tokens are dropped; null for the default, 0.05}
    public @Nullable Double minP() {
        return minP;
    }

    /// {@return what divides the logits of recent tokens; null for the default, 1}
    public @Nullable Double repeatPenalty() {
        return repeatPenalty;
    }

    @Override
    public ChatRequestParameters overrideWith(ChatRequestParameters that) {
        return builder().overrideWith(this).overrideWith(that).build();
    }

    @Override
    public ChatRequestParameters defaultedBy(ChatRequestParameters that) {
        return builder().overrideWith(that).overrideWith(this).build();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return super.equals(other)
                && other instanceof TenonChatRequestParameters that
                && Objects.equals(seed, that.seed)
                && Objects.equals(minP, that.minP)
                && Objects.equals(repeatPenalty, that.repeatPenalty);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), seed, minP, repeatPenalty);
    }

    @Override
    public String toString() {
        return "Tenon" + super.toString() + "{seed=" + seed + ", minP=" + minP + ", repeatPenalty=" + repeatPenalty
                + '}';
    }

    /// Builds parameters. For one thread.
    public static final class Builder extends DefaultChatRequestParameters.Builder<Builder> {
        private @Nullable Long seed;
        private @Nullable Double minP;
        private @Nullable Double repeatPenalty;

        private Builder() {}

        @Override
        public Builder overrideWith(ChatRequestParameters parameters) {
            super.overrideWith(parameters);
            if (parameters instanceof TenonChatRequestParameters that) {
                seed = that.seed == null ? seed : that.seed;
                minP = that.minP == null ? minP : that.minP;
                repeatPenalty = that.repeatPenalty == null ? repeatPenalty : that.repeatPenalty;
            }
            return this;
        }

        /// Sets the start of the random sequence.
        ///
        /// @param start the seed; null for a random one
        /// @return this
        public Builder seed(@Nullable Long start) {
            seed = start;
            return this;
        }

        /// Sets the share of the best token's probability below which tokens are dropped.
        ///
        /// @param share 0 to 1; null for the default
        /// @return this
        public Builder minP(@Nullable Double share) {
            minP = share;
            return this;
        }

        /// Sets what divides the logits of recent tokens.
        ///
        /// @param penalty above 0; null for the default
        /// @return this
        public Builder repeatPenalty(@Nullable Double penalty) {
            repeatPenalty = penalty;
            return this;
        }

        @Override
        public TenonChatRequestParameters build() {
            return new TenonChatRequestParameters(this);
        }
    }
}
