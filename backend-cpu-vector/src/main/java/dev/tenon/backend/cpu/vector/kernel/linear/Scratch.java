package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.LinearCall;
import java.lang.foreign.MemorySegment;

/// A thread's memory for linear kernels; contents are undefined between calls. Not safe for several
/// threads.
///
/// @param floats float32 memory
/// @param levels int8 memory
/// @param call the call that the thread fills again and again, with off-heap memory of packed kernels
public record Scratch(float[] floats, byte[] levels, LinearCall call) {
    /// {@return memory that suffices for a kernel}
    ///
    /// @param kernel the kernel
    /// @param n elements in a row
    public static Scratch of(FloatLinear kernel, int n) {
        return new Scratch(
                new float[kernel.scratchFloats(n)],
                new byte[kernel.scratchBytes(n)],
                new LinearCall(MemorySegment.NULL));
    }
}
