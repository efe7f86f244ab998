package dev.tenon.kernels.nvidia.source;

import java.util.Map;

/// A CUDA C source as a compiler takes it.
///
/// @param name what messages call it, such as `linear.Q6_K`
/// @param text the source
/// @param headers texts of all headers that it includes, by the names it includes them with;
///     unmodifiable
public record CudaSource(String name, String text, Map<String, String> headers) {
    /// Copies the map.
    public CudaSource {
        headers = Map.copyOf(headers);
    }
}
