package dev.tenon.api.device;

import java.util.Map;
import java.util.Objects;

/// Limits of a plan, and how it is compiled. Immutable; made by [#builder(int)].
public final class PlanOptions {
    /// Element types of the KV cache.
    public enum KvType {
        /// IEEE float32.
        F32,
        /// IEEE float16.
        F16,
        /// Blocks of 32 int8 with a float16 scale.
        Q8_0
    }

    private final int maxBatchTokens;
    private final int maxSequences;
    private final int kvTokens;
    private final int windowTokens;
    private final int stateSlots;
    private final KvType keyType;
    private final KvType valueType;
    private final boolean fuse;
    private final boolean batchInvariant;
    private final Map<String, String> settings;

    private PlanOptions(Builder builder) {
        this.maxBatchTokens = builder.maxBatchTokens;
        this.maxSequences = builder.maxSequences;
        this.kvTokens = builder.kvTokens;
        this.windowTokens = builder.windowTokens;
        this.stateSlots = builder.stateSlots;
        this.keyType = builder.keyType;
        this.valueType = builder.valueType;
        this.fuse = builder.fuse;
        this.batchInvariant = builder.batchInvariant;
        this.settings = builder.settings;
    }

    /// {@return a builder of options: steps of 512 tokens and one sequence, float16 keys and values,
    /// fusion, no settings}
    ///
    /// @param kvTokens positions that the KV cache holds, over all sequences, at least 1
    public static Builder builder(int kvTokens) {
        return new Builder(kvTokens);
    }

    /// {@return a builder that starts with the values of these options}
    public Builder toBuilder() {
        return toBuilder(kvTokens);
    }

    /// {@return a builder that starts with the values of these options, but for another cache}
    ///
    /// @param positions how many positions the KV cache holds, over all sequences, at least 1
    public Builder toBuilder(int positions) {
        Builder builder = new Builder(positions);
        builder.maxBatchTokens = maxBatchTokens;
        builder.maxSequences = maxSequences;
        builder.windowTokens = windowTokens;
        builder.stateSlots = stateSlots;
        builder.keyType = keyType;
        builder.valueType = valueType;
        builder.fuse = fuse;
        builder.batchInvariant = batchInvariant;
        builder.settings = settings;
        return builder;
    }

    /// {@return the most tokens in one step}
    public int maxBatchTokens() {
        return maxBatchTokens;
    }

    /// {@return the most sequences in one step}
    public int maxSequences() {
        return maxSequences;
    }

    /// {@return how many positions the KV cache holds, over all sequences; a backend rounds up to
    /// whole pages}
    public int kvTokens() {
        return kvTokens;
    }

    /// {@return how many positions the layers with a window hold, over all sequences, in pages of their own
    /// ([Plan#windowPages()]); 0 if they hold as many as the others, in the same pages}
    public int windowTokens() {
        return windowTokens;
    }

    /// {@return how many pages hold [#windowTokens()], wherever in a page the window of each sequence begins and
    /// ends, and one page more, into which another is copied; 0 if there are none}
    ///
    /// @param tokensPerPage positions in a page
    public int windowPages(int tokensPerPage) {
        return windowTokens == 0 ? 0 : Math.addExact(2 * maxSequences + 1, Math.ceilDiv(windowTokens, tokensPerPage));
    }

    /// {@return how many slots there are for the states of sequences, where the graph has ops with a
    /// state: sequences that are open at once, and copies of their states}
    public int stateSlots() {
        return stateSlots > 0 ? stateSlots : maxSequences;
    }

    /// {@return the element type of cached keys}
    public KvType keyType() {
        return keyType;
    }

    /// {@return the element type of cached values}
    public KvType valueType() {
        return valueType;
    }

    /// {@return whether the compiler may fuse ops}
    public boolean fuse() {
        return fuse;
    }

    /// {@return whether the logits of a sequence must have the same bits alone, beside any others, and in steps of any
    /// size; only where [Compiler#batchInvariant()] says that plans can do it}
    public boolean batchInvariant() {
        return batchInvariant;
    }

    /// {@return values of [Backend#settings()] by name; a backend ignores names that it does not
    /// know; unmodifiable}
    public Map<String, String> settings() {
        return settings;
    }

    /// Builds options. Not safe for several threads.
    public static final class Builder {
        private final int kvTokens;
        private int maxBatchTokens = 512;
        private int maxSequences = 1;
        private int windowTokens;
        private int stateSlots;
        private KvType keyType = KvType.F16;
        private KvType valueType = KvType.F16;
        private boolean fuse = true;
        private boolean batchInvariant;
        private Map<String, String> settings = Map.of();

        private Builder(int kvTokens) {
            this.kvTokens = kvTokens;
        }

        /// Sets the most tokens in one step; 512 by default.
        ///
        /// @param tokens how many, at least 1
        /// @return this
        public Builder maxBatchTokens(int tokens) {
            this.maxBatchTokens = tokens;
            return this;
        }

        /// Sets the most sequences in one step; 1 by default.
        ///
        /// @param sequences how many, at least 1
        /// @return this
        public Builder maxSequences(int sequences) {
            this.maxSequences = sequences;
            return this;
        }

        /// Sets how many positions the layers with a window hold in pages of their own; 0 by default, none.
        ///
        /// @param tokens how many: for each sequence a window and what is taken back, the tokens of a step, and
        ///     what is kept of prompts
        /// @return this
        public Builder windowTokens(int tokens) {
            if (tokens < 0) {
                throw new IllegalArgumentException("windowTokens " + tokens + "; expected at least 0");
            }
            this.windowTokens = tokens;
            return this;
        }

        /// Sets the number of slots for states of sequences; as many as sequences in a step by default.
        ///
        /// @param slots how many, at least 1
        /// @return this
        public Builder stateSlots(int slots) {
            if (slots < 1) {
                throw new IllegalArgumentException("stateSlots " + slots + "; expected at least 1");
            }
            this.stateSlots = slots;
            return this;
        }

        /// Sets the element type of cached keys; float16 by default.
        ///
        /// @param type the type
        /// @return this
        public Builder keyType(KvType type) {
            this.keyType = Objects.requireNonNull(type, "keyType");
            return this;
        }

        /// Sets the element type of cached values; float16 by default.
        ///
        /// @param type the type
        /// @return this
        public Builder valueType(KvType type) {
            this.valueType = Objects.requireNonNull(type, "valueType");
            return this;
        }

        /// Sets whether the compiler may fuse ops; true by default. Without fusion a wrong kernel is
        /// easier to find.
        ///
        /// @param allowed whether
        /// @return this
        public Builder fuse(boolean allowed) {
            this.fuse = allowed;
            return this;
        }

        /// Sets whether the bits of a row must not depend on the batch; false by default.
        ///
        /// @param needed whether
        /// @return this
        public Builder batchInvariant(boolean needed) {
            this.batchInvariant = needed;
            return this;
        }

        /// Sets values of the backend's settings; none by default.
        ///
        /// @param values by name; copied
        /// @return this
        public Builder settings(Map<String, String> values) {
            this.settings = Map.copyOf(values);
            return this;
        }

        /// {@return the options}
        ///
        /// @throws IllegalArgumentException if a limit is below 1
        public PlanOptions build() {
            if (maxBatchTokens < 1 || maxSequences < 1 || kvTokens < 1) {
                throw new IllegalArgumentException("maxBatchTokens " + maxBatchTokens + ", maxSequences " + maxSequences
                        + ", kvTokens " + kvTokens + "; expected at least 1 each");
            }
            return new PlanOptions(this);
        }
    }
}
