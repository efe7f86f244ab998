package dev.tenon.api.kernel.cpu;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Access to memory outside of the heap without a check at each load: weights, packed activations, scratch.
///
/// A load from a segment that the JIT compiler knows nothing about checks its bounds and its
/// scope, and a kernel with several such loads exceeds what C2 inlines. One segment over all of
/// memory is a constant: no check is left. So a range is checked once, by [#at], and kernels
/// read it at absolute addresses.
///
/// Where native access is not enabled, nothing changes but the speed: offsets then are relative to the segment
/// itself.
@ForceInline
public final class Memory {
    /// Bits that an address may have. `address & ADDRESS` tells C2 that a load near it lies in
    /// [#base], and no check is left.
    public static final long ADDRESS = (1L << 56) - 1;

    /// All of memory, or null where native access is not enabled. Kernels at the limit of what
    /// C2 inlines write out what [#base] does.
    public static final @Nullable MemorySegment ALL =
            Memory.class.getModule().isNativeAccessEnabled() ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE) : null;

    private Memory() {}

    /// {@return the segment to read from, at what [#at] returned}
    ///
    /// @param weights the segment that was given to [#at]
    public static MemorySegment base(MemorySegment weights) {
        return ALL == null ? weights : ALL;
    }

    /// Checks a range.
    ///
    /// @param weights off-heap, alive until the kernel returns
    /// @param offset of the first byte
    /// @param bytes length of the range
    /// @return where it begins in [#base]
    /// @throws IndexOutOfBoundsException if it is not within the segment
    /// @throws IllegalArgumentException if the segment is on the heap
    public static long at(MemorySegment weights, long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, weights.byteSize());
        if (ALL == null) {
            return offset;
        }
        if (!weights.isNative()) {
            throw new IllegalArgumentException("Weights lie on the heap; kernels read them from memory outside of it.");
        }
        return weights.address() + offset;
    }
}
