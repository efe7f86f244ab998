package dev.tenon.kernels.nvidia.step;

import dev.tenon.api.text.TokenSampling;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The host's memory into which the device writes the tokens that it sampled (`sample.cu`):
///
/// ```
/// int32 arrived | 60 bytes unused | int32 ids[STEPS][rows of the step's shape that want logits]
/// ```
///
/// `arrived` counts finished steps; the ids of step `i` are in place when it is above `i`, and are
/// overwritten by step `i + STEPS`.
public final class TokenRing {
    /// Steps whose tokens the memory holds.
    public static final int STEPS = 8;
    /// Most tokens of which the device can draw one.
    public static final int MOST_CANDIDATES = 256;
    /// As many candidates as cost no more than fewer, if they are more than one.
    static final int FEW_CANDIDATES = 64;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final long IDS = 64;

    private TokenRing() {}

    /// {@return bytes of the memory}
    ///
    /// @param rows rows that want logits, as the largest shape has them
    public static long bytes(int rows) {
        return IDS + 4L * STEPS * rows;
    }

    /// {@return offset of the ids}
    public static long ids() {
        return IDS;
    }

    /// {@return most tokens that a policy draws from; 0 if the device cannot sample so}
    ///
    /// @param choice how to sample
    public static int candidates(TokenSampling choice) {
        if (choice.params().temperature() == 0) {
            return 1;
        }
        return choice.params().topK() > MOST_CANDIDATES ? 0 : choice.params().topK();
    }

    /// Begins to count from 0. Not while the device writes.
    ///
    /// @param memory the memory
    public static void clear(MemorySegment memory) {
        INT.setVolatile(memory, 0L, 0);
    }

    /// {@return how many steps have written their tokens}
    ///
    /// @param memory the memory
    public static int arrived(MemorySegment memory) {
        return (int) INT.getVolatile(memory, 0L);
    }

    /// Reads the tokens of a step.
    ///
    /// @param memory the memory
    /// @param step which one, 0-based
    /// @param shape its shape
    /// @param tokens receives ids; -1 where nothing could be sampled
    /// @param count how many
    public static void read(MemorySegment memory, int step, StepShape shape, int[] tokens, int count) {
        long at = IDS + 4L * (step % STEPS) * shape.logitRows();
        MemorySegment.copy(memory, ValueLayout.JAVA_INT, at, tokens, 0, count);
    }
}
