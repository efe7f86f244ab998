package dev.tenon.api.model;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import java.util.Map;
import java.util.Optional;

/// What an architecture may look at: metadata and tensor descriptions, never weights; and how long sequences
/// will be, for the few that compute something else in a long context.
///
/// @param metadata the file's metadata
/// @param tensors tensor descriptions by name; unmodifiable
/// @param contextLength positions that a sequence may have; 0 for as many as the file says
/// @param rowWidth elements of the rows that may come with tokens in the place of embeddings, such as those of a
///     picture: what an encoder makes for the model; 0 where none come
public record ModelSource(GgufMetadata metadata, Map<String, TensorInfo> tensors, int contextLength, int rowWidth) {
    /// Copies the map.
    public ModelSource {
        tensors = Map.copyOf(tensors);
        if (contextLength < 0) {
            throw new IllegalArgumentException("a context of " + contextLength + " positions; expected 0 or more");
        }
        if (rowWidth < 0) {
            throw new IllegalArgumentException("rows of " + rowWidth + " elements; expected 0 or more");
        }
    }

    /// A model of text alone.
    ///
    /// @param metadata the file's metadata
    /// @param tensors tensor descriptions by name
    /// @param contextLength positions that a sequence may have; 0 for as many as the file says
    public ModelSource(GgufMetadata metadata, Map<String, TensorInfo> tensors, int contextLength) {
        this(metadata, tensors, contextLength, 0);
    }

    /// A file that is loaded with the context that it says itself.
    ///
    /// @param metadata the file's metadata
    /// @param tensors tensor descriptions by name
    public ModelSource(GgufMetadata metadata, Map<String, TensorInfo> tensors) {
        this(metadata, tensors, 0);
    }

    /// {@return the description of a tensor}
    ///
    /// @param name tensor name
    public Optional<TensorInfo> tensor(String name) {
        return Optional.ofNullable(tensors.get(name));
    }

    /// {@return whether a tensor is there}
    ///
    /// @param name tensor name
    public boolean has(String name) {
        return tensors.containsKey(name);
    }
}
