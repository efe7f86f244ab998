package dev.tenon.api.engine;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.graph.Graph;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
    private final @Nullable KvType keyType;
    private final @Nullable KvType valueType;
    private final boolean fuse;
    private final boolean checkData;
    private final List<String> outputs;
    private final Map<String, String> settings;
    private final List<Adapter> adapters;
    private final @Nullable Path companion;

    /// A low-rank adapter (LoRA) that is loaded beside the model.
    ///
    /// @param name what sessions call it ([Session#adapters])
    /// @param path GGUF file
    /// @param scale what new sessions use it with; 0 for not at all
    public record Adapter(String name, Path path, float scale) {
        /// Checks the values.
        ///
        /// @throws IllegalArgumentException if the name is empty, or the scale no finite number
        public Adapter {
            Objects.requireNonNull(path, "path");
            if (name.isBlank() || !Float.isFinite(scale)) {
                throw new IllegalArgumentException("adapter '" + name + "' has scale " + scale
                        + "; expected a name that is not empty, and a finite number");
            }
        }
    }

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
        this.outputs = builder.outputs;
        this.settings = builder.settings;
        this.adapters = List.copyOf(builder.adapters);
        this.companion = builder.companion;
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
        builder.outputs = outputs;
        builder.settings = settings;
        builder.adapters.addAll(adapters);
        builder.companion = companion;
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

    /// {@return how many sequences may be active at once; 0 for 4 that share the memory of one}
    public int maxSequences() {
        return maxSequences;
    }

    /// {@return the most tokens in one step (prefill chunk); 0 for 512}
    public int maxBatchTokens() {
        return maxBatchTokens;
    }

    /// {@return the element type of cached keys, or empty for the configured one}
    public Optional<KvType> keyType() {
        return Optional.ofNullable(keyType);
    }

    /// {@return the element type of cached values, or empty for the configured one}
    public Optional<KvType> valueType() {
        return Optional.ofNullable(valueType);
    }

    /// {@return whether ops may be fused}
    public boolean fuse() {
        return fuse;
    }

    /// {@return whether to scan all weights for NaN and infinity first, which reads the whole file}
    public boolean checkData() {
        return checkData;
    }

    /// {@return which outputs of the graph are computed, the default one first; unmodifiable}
    public List<String> outputs() {
        return outputs;
    }

    /// {@return values of the backend's settings by name; unmodifiable}
    public Map<String, String> settings() {
        return settings;
    }

    /// {@return the adapters that are loaded beside the model, in their order; unmodifiable}
    public List<Adapter> adapters() {
        return adapters;
    }

    /// {@return the file whose encoder makes rows of pictures or sounds for the model, if there is one}
    public Optional<Path> companion() {
        return Optional.ofNullable(companion);
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

    private List<@Nullable Object> values() {
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
                outputs,
                settings,
                adapters,
                companion);
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
        private @Nullable KvType keyType;
        private @Nullable KvType valueType;
        private boolean fuse = true;
        private boolean checkData;
        private List<String> outputs = List.of(Graph.LOGITS);
        private Map<String, String> settings = Map.of();
        private final List<Adapter> adapters = new ArrayList<>();
        private @Nullable Path companion;

        private Builder(Path path) {
            this.path = Objects.requireNonNull(path, "path");
        }

        /// Sets the backend; the configured one by default.
        ///
        /// @param id its id, `auto`, or an empty string for the configured one
        /// @return this
        public Builder backend(String id) {
            this.backend = Objects.requireNonNull(id, "backend");
            return this;
        }

        /// Sets the device within the backend; its first by default.
        ///
        /// @param id its id, or an empty string for the first
        /// @return this
        public Builder device(String id) {
            this.device = Objects.requireNonNull(id, "device");
            return this;
        }

        /// Sets the number of CPU threads.
        ///
        /// @param count how many; 0, the default, for the configured or the machine's number
        /// @return this
        public Builder threads(int count) {
            this.threads = count;
            return this;
        }

        /// Sets how many positions a sequence may have.
        ///
        /// @param positions how many; 0, the default, for the model's own number, capped by the configuration
        /// @return this
        public Builder contextLength(int positions) {
            this.contextLength = positions;
            return this;
        }

        /// Sets how many sequences may be active at once, each with room for a whole context.
        ///
        /// By default there are 4, which share the memory of one context: together they hold as many tokens
        /// as one alone could. Where that does not suffice, some wait and run their tokens again later.
        ///
        /// @param sequences how many; 0 for the default
        /// @return this
        public Builder maxSequences(int sequences) {
            this.maxSequences = sequences;
            return this;
        }

        /// Sets the most tokens in one step, such as a chunk of a prompt.
        ///
        /// @param tokens how many; 0, the default, for 512
        /// @return this
        public Builder maxBatchTokens(int tokens) {
            this.maxBatchTokens = tokens;
            return this;
        }

        /// Sets the element type of cached keys; the configured one by default.
        ///
        /// @param type the type, or null for the configured one
        /// @return this
        public Builder keyType(@Nullable KvType type) {
            this.keyType = type;
            return this;
        }

        /// Sets the element type of cached values; the configured one by default.
        ///
        /// @param type the type, or null for the configured one
        /// @return this
        public Builder valueType(@Nullable KvType type) {
            this.valueType = type;
            return this;
        }

        /// Sets whether ops may be fused; true by default. Without fusion a wrong kernel is easier to find.
        ///
        /// @param allowed whether
        /// @return this
        public Builder fuse(boolean allowed) {
            this.fuse = allowed;
            return this;
        }

        /// Sets whether to scan all weights for NaN and infinity first, which reads the whole file; false by
        /// default.
        ///
        /// @param check whether
        /// @return this
        public Builder checkData(boolean check) {
            this.checkData = check;
            return this;
        }

        /// Sets which outputs of the graph are computed; by default the logits alone, which is what
        /// generating needs.
        ///
        /// A model that is loaded with [Graph#HIDDEN] alone embeds texts, computes no logits, and cannot
        /// generate. One that is loaded with [Graph#LOGITS] and [Graph#HIDDEN], in this order, does both,
        /// on a backend that supports named outputs. [Graph#EMBEDDING] is what [LoadedModel#embed] needs, and
        /// means [Graph#HIDDEN] for models that have no output of that name; [Graph#SCORES] is what
        /// [LoadedModel#rerank] needs.
        ///
        /// @param names at least one; the first becomes the default output
        /// @return this
        public Builder outputs(String... names) {
            this.outputs = List.of(names);
            return this;
        }

        /// Sets values of the backend's settings; the configured ones by default.
        ///
        /// @param values by name; copied
        /// @return this
        public Builder settings(Map<String, String> values) {
            this.settings = Map.copyOf(values);
            return this;
        }

        /// Loads a low-rank adapter (LoRA) beside the model. Sessions choose which of the adapters they use;
        /// the weights stay as they are. No backend but the CPU runs adapters yet.
        ///
        /// @param name what sessions call it ([Session#adapters])
        /// @param file GGUF file
        /// @param scale what new sessions use it with, usually 1; 0 for not at all
        /// @return this
        /// @throws IllegalArgumentException if the name is empty, or the scale no finite number
        public Builder adapter(String name, Path file, float scale) {
            adapters.add(new Adapter(name, file, scale));
            return this;
        }

        /// Has the model take pictures or sounds, which an encoder makes rows of; none by default. The encoder is found
        /// by what its file names; the backend of the model runs it if it can, else another one.
        ///
        /// @param file companion of the model (`mmproj`); null for none
        /// @return this
        public Builder companion(@Nullable Path file) {
            companion = file;
            return this;
        }

        /// {@return the request}
        ///
        /// @throws IllegalArgumentException if a number is negative, no output is wanted, or two adapters
        ///     have one name
        public LoadRequest build() {
            if (outputs.isEmpty()) {
                throw new IllegalArgumentException("no output is asked for; expected at least one");
            }
            if (adapters.stream().map(Adapter::name).distinct().count() < adapters.size()) {
                throw new IllegalArgumentException("two adapters have one name: " + adapters);
            }
            if (threads < 0 || contextLength < 0 || maxSequences < 0 || maxBatchTokens < 0) {
                throw new IllegalArgumentException("threads " + threads + ", contextLength " + contextLength
                        + ", maxSequences " + maxSequences + ", maxBatchTokens " + maxBatchTokens
                        + "; expected 0 or more");
            }
            return new LoadRequest(this);
        }
    }
}
