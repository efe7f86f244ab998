package dev.tenon.api.engine;

import dev.tenon.api.device.PlanOptions.KvType;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Which model to load, and how to place it. Empty and zero values take the configured default.
/// Immutable; made by [#builder(Path)].
public final class LoadRequest {
    private final Path path;
    private final String backend;
    private final String device;
    private final int threads;
    private final int contextLength;
    private final int maxSequences;
    private final int maxBatchTokens;
    private final KvType keyType;
    private final KvType valueType;
    private final boolean fuse;
    private final boolean checkData;
    private final Map<String, String> settings;

    private LoadRequest(Builder builder) {
        this.path = builder.path;
        this.backend = builder.backend;
        this.device = builder.device;
        this.threads = builder.threads;
        this.contextLength = builder.contextLength;
        this.maxSequences = builder.maxSequences;
        this.maxBatchTokens = builder.maxBatchTokens;
        this.keyType = builder.keyType;
        this.valueType = builder.valueType;
        this.fuse = builder.fuse;
        this.checkData = builder.checkData;
        this.settings = builder.settings;
    }

    /// {@return a builder of a request with all defaults}
    ///
    /// @param path GGUF file
    public static Builder builder(Path path) {
        return new Builder(path);
    }

    /// {@return a request with all defaults}
    ///
    /// @param path GGUF file
    public static LoadRequest of(Path path) {
        return builder(path).build();
    }

    /// {@return a builder that starts with the values of this request}
    public Builder toBuilder() {
        Builder builder = new Builder(path);
        builder.backend = backend;
        builder.device = device;
        builder.threads = threads;
        builder.contextLength = contextLength;
        builder.maxSequences = maxSequences;
        builder.maxBatchTokens = maxBatchTokens;
        builder.keyType = keyType;
        builder.valueType = valueType;
        builder.fuse = fuse;
        builder.checkData = checkData;
        builder.settings = settings;
        return builder;
    }

    /// {@return the GGUF file; the first part of split files}
    public Path path() {
        return path;
    }

    /// {@return the backend id, `auto`, or empty for the configured one}
    public String backend() {
        return backend;
    }

    /// {@return the device id within the backend, or empty for the first}
    public String device() {
        return device;
    }

    /// {@return the number of CPU threads; 0 for the configured or the machine's number}
    public int threads() {
        return threads;
    }

    /// {@return how many positions a sequence may have; 0 for the model's own, capped by the
    ///     configuration}
    public int contextLength() {
        return contextLength;
    }

    /// {@return how many sequences may be active at once; 0 for 1}
    public int maxSequences() {
        return maxSequences;
    }

    /// {@return the most tokens in one step (prefill chunk); 0 for 512}
    public int maxBatchTokens() {
        return maxBatchTokens;
    }

    /// {@return the element type of cached keys, or null for the configured one}
    public KvType keyType() {
        return keyType;
    }

    /// {@return the element type of cached values, or null for the configured one}
    public KvType valueType() {
        return valueType;
    }

    /// {@return whether ops may be fused}
    public boolean fuse() {
        return fuse;
    }

    /// {@return whether to scan all weights for NaN and infinity first, which reads the whole file}
    public boolean checkData() {
        return checkData;
    }

    /// {@return further settings for the backend; unmodifiable}
    public Map<String, String> settings() {
        return settings;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LoadRequest that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "LoadRequest" + values();
    }

    private List<Object> values() {
        return Arrays.asList(
                path,
                backend,
                device,
                threads,
                contextLength,
                maxSequences,
                maxBatchTokens,
                keyType,
                valueType,
                fuse,
                checkData,
                settings);
    }

    /// Builds requests. Not safe for several threads.
    public static final class Builder {
        private Path path;
        private String backend = "";
        private String device = "";
        private int threads;
        private int contextLength;
        private int maxSequences;
        private int maxBatchTokens;
        private KvType keyType;
        private KvType valueType;
        private boolean fuse = true;
        private boolean checkData;
        private Map<String, String> settings = Map.of();

        private Builder(Path path) {
            this.path = Objects.requireNonNull(path, "path");
        }

        /// Sets backend: the backend id, `auto`, or empty for the configured one.
        ///
        /// @param value the new value
        /// @return this
        public Builder backend(String value) {
            this.backend = Objects.requireNonNull(value, "backend");
            return this;
        }

        /// Sets device: the device id within the backend, or empty for the first.
        ///
        /// @param value the new value
        /// @return this
        public Builder device(String value) {
            this.device = Objects.requireNonNull(value, "device");
            return this;
        }

        /// Sets threads: the number of CPU threads; 0 for the configured or the machine's number.
        ///
        /// @param value the new value
        /// @return this
        public Builder threads(int value) {
            this.threads = value;
            return this;
        }

        /// Sets contextLength: how many positions a sequence may have; 0 for the model's own,
        /// capped by the configuration.
        ///
        /// @param value the new value
        /// @return this
        public Builder contextLength(int value) {
            this.contextLength = value;
            return this;
        }

        /// Sets maxSequences: how many sequences may be active at once; 0 for 1.
        ///
        /// @param value the new value
        /// @return this
        public Builder maxSequences(int value) {
            this.maxSequences = value;
            return this;
        }

        /// Sets maxBatchTokens: the most tokens in one step (prefill chunk); 0 for 512.
        ///
        /// @param value the new value
        /// @return this
        public Builder maxBatchTokens(int value) {
            this.maxBatchTokens = value;
            return this;
        }

        /// Sets keyType: the element type of cached keys, or null for the configured one.
        ///
        /// @param value the new value
        /// @return this
        public Builder keyType(KvType value) {
            this.keyType = value;
            return this;
        }

        /// Sets valueType: the element type of cached values, or null for the configured one.
        ///
        /// @param value the new value
        /// @return this
        public Builder valueType(KvType value) {
            this.valueType = value;
            return this;
        }

        /// Sets fuse: whether ops may be fused.
        ///
        /// @param value the new value
        /// @return this
        public Builder fuse(boolean value) {
            this.fuse = value;
            return this;
        }

        /// Sets checkData: whether to scan all weights for NaN and infinity first, which reads the
        /// whole file.
        ///
        /// @param value the new value
        /// @return this
        public Builder checkData(boolean value) {
            this.checkData = value;
            return this;
        }

        /// Sets settings: further settings for the backend.
        ///
        /// @param value the new value
        /// @return this
        public Builder settings(Map<String, String> value) {
            this.settings = Map.copyOf(value);
            return this;
        }

        /// {@return the request}
        ///
        /// @throws IllegalArgumentException if a number is negative
        public LoadRequest build() {
            if (threads < 0 || contextLength < 0 || maxSequences < 0 || maxBatchTokens < 0) {
                throw new IllegalArgumentException("threads " + threads + ", contextLength " + contextLength
                        + ", maxSequences " + maxSequences + ", maxBatchTokens " + maxBatchTokens
                        + "; expected 0 or more");
            }
            return new LoadRequest(this);
        }
    }
}
