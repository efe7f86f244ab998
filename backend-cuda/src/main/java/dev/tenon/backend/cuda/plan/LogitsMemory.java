package dev.tenon.backend.cuda.plan;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.tenon.backend.cuda.device.Closing;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.backend.cuda.device.PinnedMemory;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.StepLogits;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Pinned host memory for rows of logits. The few rows of a decoding step are copied as the last
/// part of the step; many rows when they are asked for. Used in the plan's turn; closed by the
/// plan.
final class LogitsMemory implements StepLogits, AutoCloseable {
    /// Most rows that are copied with the step.
    private static final int WITH_STEP = 8;

    private final CudaContext context;
    private final long device;
    private final int width;
    private final PinnedMemory pinned;
    private PinnedMemory more;
    private PinnedMemory current;

    /// @param context the device's; entered by the calling thread
    /// @param planned tells where logits are
    /// @param memory the plan's memory
    LogitsMemory(CudaContext context, PlannedGraph planned, PlanMemory memory) {
        this.context = context;
        this.device = memory.address(planned.logits());
        this.width = planned.logitsWidth();
        this.pinned = new PinnedMemory(context, 4L * width * WITH_STEP);
        this.current = pinned;
    }

    @Override
    public boolean arrivesWith(int rows) {
        return rows <= WITH_STEP;
    }

    @Override
    public void begin() {
        current = pinned;
    }

    /// Starts copying the first rows as a part of the step. The address is always the same:
    /// captured graphs keep it.
    ///
    /// @param count how many rows; [#arrivesWith] is true for it
    void copyWithStep(int count) {
        context.binding().copyToHost(pinned.memory().address(), device, 4L * width * count, context.stream());
    }

    @Override
    public void fetch(int firstRow, int count) {
        context.enter();
        if (count > WITH_STEP && (more == null || more.memory().byteSize() < 4L * width * count)) {
            if (more != null) {
                more.close();
                more = null;
            }
            more = new PinnedMemory(context, 4L * width * count);
        }
        current = count > WITH_STEP ? more : pinned;
        context.binding()
                .copyToHost(
                        current.memory().address(),
                        device + 4L * width * firstRow,
                        4L * width * count,
                        context.stream());
        context.synchronize();
    }

    @Override
    public void take(int row, float[] target) {
        MemorySegment.copy(current.memory(), JAVA_FLOAT, 4L * width * row, target, 0, width);
    }

    @Override
    public void close() {
        Closing.all(more == null ? List.of(pinned) : List.of(pinned, more));
    }
}
