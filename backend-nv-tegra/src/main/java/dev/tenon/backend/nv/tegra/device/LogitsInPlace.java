package dev.tenon.backend.nv.tegra.device;

import dev.tenon.kernels.nvidia.run.StepLogits;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Logits that the processor reads where the GPU has written them.
final class LogitsInPlace implements StepLogits {
    private final MemorySegment memory;
    private final int width;
    private int firstRow;

    /// @param memory float32 rows, as the processor sees them
    /// @param width numbers in a row
    LogitsInPlace(MemorySegment memory, int width) {
        this.memory = memory;
        this.width = width;
    }

    @Override
    public boolean arrivesWith(int rows) {
        return true;
    }

    @Override
    public void begin() {
        firstRow = 0;
    }

    @Override
    public void fetch(int first, int count) {
        firstRow = first;
    }

    @Override
    public void take(int row, float[] target) {
        MemorySegment.copy(memory, ValueLayout.JAVA_FLOAT, 4L * width * (firstRow + row), target, 0, width);
    }
}
