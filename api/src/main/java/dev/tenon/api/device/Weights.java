package dev.tenon.api.device;

import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/// The weights of a model as a compiler sees them. Read-only and safe for any thread; valid until
/// the model's plans are closed.
@ProviderType
public interface Weights {
    /// {@return the description of a weight of the graph}
    ///
    /// @param name tensor name
    /// @throws IllegalArgumentException if the graph has no such weight
    TensorInfo info(String name);

    /// {@return the format of a weight}
    ///
    /// @param name tensor name
    /// @throws IllegalArgumentException if the graph has no such weight
    QuantFormat format(String name);

    /// {@return the bytes of a weight, mapped read-only}
    ///
    /// @param name tensor name
    /// @throws IllegalArgumentException if the graph has no such weight
    MemorySegment data(String name);
}
