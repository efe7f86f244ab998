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
public record ModelSource(GgufMetadata metadata, Map<String, TensorInfo> tensors, int contextLength) {
    /// Copies the map.
    public ModelSource {
        tensors = Map.copyOf(tensors);
        if (contextLength < 0) {
            throw new IllegalArgumentException("a context of " + contextLength + " positions; expected 0 or more");
        }
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
