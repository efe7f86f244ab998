package dev.tenon.api.quant;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// The scalar encoder of a [QuantFormat]. Stateless and safe for any thread.
@ConsumerType
public interface Quantizer {
    /// Encodes elements into blocks.
    ///
    /// @param source the values; finite
    /// @param sourceOffset index of the first value
    /// @param target receives the blocks; borrowed, not kept
    /// @param offsetBytes where the first block goes in `target`
    /// @param n elements, a multiple of the format's block size
    /// @throws IllegalArgumentException if `n` is not a multiple of the block size
    /// @throws IndexOutOfBoundsException if source or target are too small
    void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n);
}
