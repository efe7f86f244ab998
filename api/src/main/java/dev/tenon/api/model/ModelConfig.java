package dev.tenon.api.model;

import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import java.util.List;
import java.util.Objects;

/// The hyperparameters of a decoder; named as in GGUF. Immutable; made by [#read(ModelSource, float)] or
/// [#builder(String)].
public final class ModelConfig {
    private final String architecture;
    private final String name;
    private final int contextLength;
    private final int embeddingLength;
    private final int blockCount;
    private final int headCount;
    private final int headCountKv;
    private final int keyLength;
    private final int valueLength;
    private final int feedForwardLength;
    private final int vocabularySize;
    private final float rmsEps;
    private final int ropeDim;
    private final float ropeFreqBase;
    private final float ropeFreqScale;

    private ModelConfig(Builder builder) {
        this.architecture = builder.architecture;
        this.name = builder.name;
        this.contextLength = builder.contextLength;
        this.embeddingLength = builder.embeddingLength;
        this.blockCount = builder.blockCount;
        this.headCount = builder.headCount;
        this.headCountKv = builder.headCountKv;
        this.keyLength = builder.keyLength;
        this.valueLength = builder.valueLength;
        this.feedForwardLength = builder.feedForwardLength;
        this.vocabularySize = builder.vocabularySize;
        this.rmsEps = builder.rmsEps;
        this.ropeDim = builder.ropeDim;
        this.ropeFreqBase = builder.ropeFreqBase;
        this.ropeFreqScale = builder.ropeFreqScale;
    }

    /// {@return a builder of hyperparameters that are all 0, but for the base and scale of RoPE (10000 and 1) and the
    /// epsilon of norms (1e-5)}
    ///
    /// @param architecture `general.architecture`
    public static Builder builder(String architecture) {
        return new Builder(architecture);
    }

    /// {@return a builder that starts with these values}
    public Builder toBuilder() {
        Builder builder = new Builder(architecture);
        builder.name = name;
        builder.contextLength = contextLength;
        builder.embeddingLength = embeddingLength;
        builder.blockCount = blockCount;
        builder.headCount = headCount;
        builder.headCountKv = headCountKv;
        builder.keyLength = keyLength;
        builder.valueLength = valueLength;
        builder.feedForwardLength = feedForwardLength;
        builder.vocabularySize = vocabularySize;
        builder.rmsEps = rmsEps;
        builder.ropeDim = ropeDim;
        builder.ropeFreqBase = ropeFreqBase;
        builder.ropeFreqScale = ropeFreqScale;
        return builder;
    }

    /// {@return `general.architecture`}
    public String architecture() {
        return architecture;
    }

    /// {@return `general.name`, or the architecture}
    public String name() {
        return name;
    }

    /// {@return how many positions the model was trained for}
    public int contextLength() {
        return contextLength;
    }

    /// {@return the width of the residual stream}
    public int embeddingLength() {
        return embeddingLength;
    }

    /// {@return the number of layers}
    public int blockCount() {
        return blockCount;
    }

    /// {@return the number of query heads}
    public int headCount() {
        return headCount;
    }

    /// {@return the number of key and value heads}
    public int headCountKv() {
        return headCountKv;
    }

    /// {@return the elements of a key head}
    public int keyLength() {
        return keyLength;
    }

    /// {@return the elements of a value head}
    public int valueLength() {
        return valueLength;
    }

    /// {@return the width of the feed-forward layer}
    public int feedForwardLength() {
        return feedForwardLength;
    }

    /// {@return the number of tokens: rows of the embedding}
    public int vocabularySize() {
        return vocabularySize;
    }

    /// {@return the epsilon of the RMS norms}
    public float rmsEps() {
        return rmsEps;
    }

    /// {@return the elements of a head that are rotated}
    public int ropeDim() {
        return ropeDim;
    }

    /// {@return the base of the rotation frequencies}
    public float ropeFreqBase() {
        return ropeFreqBase;
    }

    /// {@return the factor on positions; 1 unless linear scaling is used}
    public float ropeFreqScale() {
        return ropeFreqScale;
    }

    /// Reads the keys that GGUF defines for decoders (`ARCH.block_count` and so on) and checks that they
    /// fit together.
    ///
    /// @param source metadata and tensor descriptions; `token_embd.weight` gives the vocabulary's size
    /// @param defaultFreqBase `ropeFreqBase` when the file does not say
    /// @return the configuration
    /// @throws ModelFormatException if a key is missing (`MODEL-001`), has the wrong type or an
    ///     impossible value (`MODEL-002`), or the embedding is missing (`MODEL-004`)
    /// @throws UnsupportedModelException (`MODEL-003`) for experts and rope scalings other than linear
    public static ModelConfig read(ModelSource source, float defaultFreqBase) {
        return DecoderKeys.read(source, defaultFreqBase);
    }

    /// Reads counts and widths only, for an architecture that reads the keys of experts, of the rotation's scaling
    /// and of single layers itself ([ModelKeys]).
    ///
    /// A key that holds an array counts with its largest number. `blockCount` is without draft blocks
    /// (`nextn_predict_layers`), `feedForwardLength` 0 where only experts have a width, `rmsEps` the epsilon of
    /// layer norms where those are used, `ropeFreqScale` 1.
    ///
    /// @param source metadata and tensor descriptions; `token_embd.weight` gives the vocabulary's size
    /// @param defaultFreqBase `ropeFreqBase` when the file does not say
    /// @return the configuration
    /// @throws ModelFormatException as [#read]
    public static ModelConfig readShape(ModelSource source, float defaultFreqBase) {
        return DecoderKeys.readShape(source, defaultFreqBase);
    }

    /// Reads counts and widths of a decoder without attention, whose file has 0 heads or no key for them: heads, their
    /// lengths and what is rotated of them are 0.
    ///
    /// @param source metadata and tensor descriptions; `token_embd.weight` gives the vocabulary's size
    /// @return the configuration
    /// @throws ModelFormatException as [#read]
    public static ModelConfig readWithoutAttention(ModelSource source) {
        return DecoderKeys.readWithoutAttention(source);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ModelConfig that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "ModelConfig" + values();
    }

    private List<Object> values() {
        return List.of(
                architecture,
                name,
                contextLength,
                embeddingLength,
                blockCount,
                headCount,
                headCountKv,
                keyLength,
                valueLength,
                feedForwardLength,
                vocabularySize,
                rmsEps,
                ropeDim,
                ropeFreqBase,
                ropeFreqScale);
    }

    /// Builds one. Not safe for several threads.
    public static final class Builder {
        private final String architecture;
        private String name;
        private int contextLength;
        private int embeddingLength;
        private int blockCount;
        private int headCount;
        private int headCountKv;
        private int keyLength;
        private int valueLength;
        private int feedForwardLength;
        private int vocabularySize;
        private float rmsEps = 1e-5f;
        private int ropeDim;
        private float ropeFreqBase = 10_000;
        private float ropeFreqScale = 1;

        private Builder(String architecture) {
            this.architecture = Objects.requireNonNull(architecture, "architecture");
            this.name = architecture;
        }

        /// Sets `general.name`; the architecture by default.
        ///
        /// @param value the value
        /// @return this
        public Builder name(String value) {
            this.name = Objects.requireNonNull(value, "name");
            return this;
        }

        /// Sets how many positions the model was trained for.
        ///
        /// @param value the value
        /// @return this
        public Builder contextLength(int value) {
            this.contextLength = value;
            return this;
        }

        /// Sets the width of the residual stream.
        ///
        /// @param value the value
        /// @return this
        public Builder embeddingLength(int value) {
            this.embeddingLength = value;
            return this;
        }

        /// Sets the number of layers.
        ///
        /// @param value the value
        /// @return this
        public Builder blockCount(int value) {
            this.blockCount = value;
            return this;
        }

        /// Sets the number of query heads.
        ///
        /// @param value the value
        /// @return this
        public Builder headCount(int value) {
            this.headCount = value;
            return this;
        }

        /// Sets the number of key and value heads.
        ///
        /// @param value the value
        /// @return this
        public Builder headCountKv(int value) {
            this.headCountKv = value;
            return this;
        }

        /// Sets the elements of a key head.
        ///
        /// @param value the value
        /// @return this
        public Builder keyLength(int value) {
            this.keyLength = value;
            return this;
        }

        /// Sets the elements of a value head.
        ///
        /// @param value the value
        /// @return this
        public Builder valueLength(int value) {
            this.valueLength = value;
            return this;
        }

        /// Sets the width of the feed-forward layer.
        ///
        /// @param value the value
        /// @return this
        public Builder feedForwardLength(int value) {
            this.feedForwardLength = value;
            return this;
        }

        /// Sets the number of tokens: rows of the embedding.
        ///
        /// @param value the value
        /// @return this
        public Builder vocabularySize(int value) {
            this.vocabularySize = value;
            return this;
        }

        /// Sets the epsilon of the RMS norms.
        ///
        /// @param value the value
        /// @return this
        public Builder rmsEps(float value) {
            this.rmsEps = value;
            return this;
        }

        /// Sets the elements of a head that are rotated.
        ///
        /// @param value the value
        /// @return this
        public Builder ropeDim(int value) {
            this.ropeDim = value;
            return this;
        }

        /// Sets the base of the rotation frequencies.
        ///
        /// @param value the value
        /// @return this
        public Builder ropeFreqBase(float value) {
            this.ropeFreqBase = value;
            return this;
        }

        /// Sets the factor on positions; 1 unless linear scaling is used.
        ///
        /// @param value the value
        /// @return this
        public Builder ropeFreqScale(float value) {
            this.ropeFreqScale = value;
            return this;
        }

        /// {@return the hyperparameters}
        public ModelConfig build() {
            return new ModelConfig(this);
        }
    }
}
