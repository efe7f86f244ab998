package dev.tenon.api.model;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import java.util.Map;
import java.util.Optional;

/// What an architecture may look at: metadata and tensor descriptions, never weights.
///
/// @param metadata the file's metadata
/// @param tensors tensor descriptions by name; unmodifiable
public record ModelSource(GgufMetadata metadata, Map<String, TensorInfo> tensors) {
    /// Copies the map.
    public ModelSource {
        tensors = Map.copyOf(tensors);
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
