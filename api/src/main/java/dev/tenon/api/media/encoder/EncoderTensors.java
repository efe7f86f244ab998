package dev.tenon.api.media.encoder;

/// Small tensors of a companion file, decoded: tables of positions and single rows, which are not part of the graph.
@FunctionalInterface
public interface EncoderTensors {
    /// Decodes a tensor. The first call for a name may take long.
    ///
    /// @param name its name
    /// @return its elements, the fastest dimension first; shared, never to be changed
    /// @throws IllegalArgumentException if the file does not have it
    float[] values(String name);
}
