package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import java.lang.foreign.MemorySegment;

/// A thread's memory for linear kernels; contents are undefined between calls. Not safe for several
/// threads.
///
/// @param floats float32 memory
/// @param levels int8 memory
/// @param call the call that the thread fills again and again, with off-heap memory of packed kernels
/// @param spans the parts of rows that the thread is at
public record Scratch(float[] floats, byte[] levels, LinearCall call, RowSpans spans) {
    /// Creates memory of a thread.
    ///
    /// @param floats float32 memory
    /// @param levels int8 memory
    /// @param memory off-heap memory of packed kernels, aligned to 64 bytes
    public Scratch(float[] floats, byte[] levels, MemorySegment memory) {
        this(floats, levels, new LinearCall(memory), new RowSpans());
    }

    /// {@return memory that suffices for a kernel}
    ///
    /// @param kernel the kernel
    /// @param n elements in a row
    public static Scratch of(FloatLinear kernel, int n) {
        return new Scratch(new float[kernel.scratchFloats(n)], new byte[kernel.scratchBytes(n)], MemorySegment.NULL);
    }
}
