package dev.tenon.backend.cpu.vector.memory;

import dev.tenon.api.kernel.cpu.LinearKernel;
import java.lang.foreign.MemorySegment;

/// Memory for the activation rows that a [LinearKernel] packs, shared by all matrices of a plan with
/// the same kernel and row length: a step packs into it before it multiplies, and the next step packs
/// again.
public final class PackedActivations {
    /// The kernel.
    public final LinearKernel kernel;
    /// Elements in a row.
    public final int n;
    private MemorySegment memory;
    private MemorySegment[] own;

    /// Creates the holder without memory.
    ///
    /// @param kernel the kernel
    /// @param n elements in a row
    public PackedActivations(LinearKernel kernel, int n) {
        this.kernel = kernel;
        this.n = n;
    }

    /// {@return bytes that it needs}
    ///
    /// @param maxTokens most rows
    public long bytes(int maxTokens) {
        return kernel.packedBytes(n, maxTokens);
    }

    /// Gives it memory of [#bytes(int)].
    ///
    /// @param given off-heap, aligned to 64 bytes; borrowed
    public void use(MemorySegment given) {
        memory = given;
    }

    /// Packs one row.
    ///
    /// @param x activations `[tokens, n]`
    /// @param token which row
    public void pack(Activations x, int token) {
        kernel.pack(x.floats, token * n, n, memory, token);
    }

    /// {@return bytes that each thread needs for a row of its own}
    public long ownBytes() {
        return kernel.packedBytes(n);
    }

    /// Gives each thread memory of [#ownBytes()].
    ///
    /// @param given off-heap, aligned to 64 bytes; borrowed
    public void useOwn(MemorySegment[] given) {
        own = given;
    }

    /// Packs one row for a single thread, such as that of a step that has one only.
    ///
    /// @param x activations
    /// @param at index of the row's first element
    /// @param thread index of the thread
    public void packOwn(Activations x, int at, int thread) {
        kernel.pack(x.floats, at, n, own[thread]);
    }

    /// {@return the rows that a thread multiplies: of a single one its own}
    ///
    /// @param tokens number of rows
    /// @param thread index of the thread
    public MemorySegment memory(int tokens, int thread) {
        return tokens == 1 ? own[thread] : memory;
    }

    /// {@return the packed rows}
    public MemorySegment memory() {
        return memory;
    }
}
