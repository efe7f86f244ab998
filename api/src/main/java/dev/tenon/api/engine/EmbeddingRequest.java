package dev.tenon.api.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Which texts to embed, and how. Immutable; made by [#builder()].
public final class EmbeddingRequest {
    /// How one vector is made of the hidden states of a text.
    public enum Pooling {
        /// The mean of all tokens.
        MEAN,
        /// The first token, `[CLS]` of encoders.
        CLS,
        /// The last token.
        LAST
    }

    private final List<int[]> texts;
    private final List<List<PromptMedia>> media;
    private final @Nullable Pooling pooling;
    private final boolean normalize;

    private EmbeddingRequest(Builder builder) {
        this.texts = copy(builder.texts);
        this.media = List.copyOf(builder.media);
        this.pooling = builder.pooling;
        this.normalize = builder.normalize;
    }

    /// {@return a builder of a request without texts, with the model's own pooling, normalized}
    public static Builder builder() {
        return new Builder();
    }

    /// {@return the token ids of each text, a copy}
    public List<int[]> texts() {
        return copy(texts);
    }

    /// {@return the pictures and sounds of each text, unmodifiable}
    public List<List<PromptMedia>> media() {
        return media;
    }

    /// {@return how to pool, or empty for what the model file names (`pooling_type`), the last token where
    ///     it names nothing}
    public Optional<Pooling> pooling() {
        return Optional.ofNullable(pooling);
    }

    /// {@return whether vectors are scaled to length 1}
    public boolean normalize() {
        return normalize;
    }

    private static List<int[]> copy(List<int[]> texts) {
        return texts.stream().map(int[]::clone).toList();
    }

    /// Builds requests. Not safe for several threads.
    public static final class Builder {
        private final List<int[]> texts = new ArrayList<>();
        private final List<List<PromptMedia>> media = new ArrayList<>();
        private @Nullable Pooling pooling;
        private boolean normalize = true;

        private Builder() {}

        /// Adds a text.
        ///
        /// @param tokens its token ids, with the special tokens that the model expects; copied
        /// @return this
        public Builder text(int... tokens) {
            return text(tokens, List.of());
        }

        /// Adds a text with pictures or sounds.
        ///
        /// @param tokens as above, with [PromptMedia#tokens()] in the place of each of them; copied
        /// @param of the model that embeds it
        /// @return this
        public Builder text(int[] tokens, List<? extends PromptMedia> of) {
            texts.add(tokens.clone());
            media.add(List.copyOf(of));
            return this;
        }

        /// Sets how to pool; the model's own way by default.
        ///
        /// @param how the way
        /// @return this
        public Builder pooling(Pooling how) {
            this.pooling = Objects.requireNonNull(how, "pooling");
            return this;
        }

        /// Sets whether vectors are scaled to length 1; true by default.
        ///
        /// @param scale whether
        /// @return this
        public Builder normalize(boolean scale) {
            this.normalize = scale;
            return this;
        }

        /// {@return the request}
        ///
        /// @throws IllegalArgumentException if a text has no tokens
        public EmbeddingRequest build() {
            if (texts.stream().anyMatch(text -> text.length == 0)) {
                throw new IllegalArgumentException("a text has no tokens; expected at least one");
            }
            return new EmbeddingRequest(this);
        }
    }
}
