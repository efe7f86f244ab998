package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.StepInput;
import dev.tenon.kernels.nvidia.KvBuffer;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/// What runs a plan's steps: a device, behind some driver. Called in the plan's turn, by one thread at a
/// time; what fails throws [dev.tenon.api.error.BackendException].
public interface StepDevice {
    /// {@return the host's memory for a step's input}
    MemorySegment input();

    /// {@return the host's memory for the page tables; zero at first, then as it was last written}
    MemorySegment pageTables();

    /// {@return the host's memory into which the device writes the tokens that it samples, as
    ///     [dev.tenon.kernels.nvidia.step.TokenRing] has it; empty if it samples none}
    Optional<MemorySegment> sampled();

    /// {@return the host's memory from which the device reads masks, as
    ///     [dev.tenon.kernels.nvidia.step.TokenMasks] has it; there where it samples}
    default MemorySegment masks() {
        return MemorySegment.NULL;
    }

    /// {@return how the host gets logits}
    StepLogits logits();

    /// Begins a step: the calls that follow, up to [#end], come from this thread.
    default void begin() {}

    /// Ends a step that did not fail.
    ///
    /// @param input its tokens
    default void end(StepInput input) {}

    /// Starts to bring a part of the page tables to the device, where it is not there already.
    ///
    /// @param offset its first byte
    /// @param bytes its length
    void sendPageTables(long offset, long bytes);

    /// Runs a step's launches and waits until they have ended.
    ///
    /// @param step the step
    void run(Step step);

    /// Copies a piece of some buffers between two steps, a page of each or a slot of each, and waits for it.
    ///
    /// @param buffers the buffers
    /// @param from source piece
    /// @param to target piece
    void copy(List<KvBuffer> buffers, int from, int to);

    /// Copies a piece of some buffers to the host between two steps, one buffer after the other, and waits for it.
    ///
    /// @param buffers the buffers
    /// @param piece which
    /// @param target off-heap, as large as a piece of all buffers
    void read(List<KvBuffer> buffers, int piece, MemorySegment target);

    /// Copies a piece of some buffers from the host, as [#read] gave it, and waits for it.
    ///
    /// @param buffers the buffers
    /// @param piece which
    /// @param source off-heap
    void write(List<KvBuffer> buffers, int piece, MemorySegment source);
}
