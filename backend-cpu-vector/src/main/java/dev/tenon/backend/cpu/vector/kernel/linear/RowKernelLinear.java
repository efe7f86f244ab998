package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.RowKernel;
import java.lang.foreign.MemorySegment;

/// Runs a [RowKernel] that another bundle offers, token by token.
public final class RowKernelLinear implements LinearKernel {
    /// Rows of one call of the row kernel, which is also the scratch it needs.
    private static final int ROWS = 64;

    private final RowKernel kernel;

    /// Creates the adapter.
    ///
    /// @param kernel does the work
    public RowKernelLinear(RowKernel kernel) {
        this.kernel = kernel;
    }

    @Override
    public String name() {
        return kernel.name();
    }

    @Override
    public Support.Level level() {
        return Support.Level.FAST;
    }

    @Override
    public int scratchFloats(int n) {
        return ROWS;
    }

    @Override
    public int scratchBytes(int n) {
        return 0;
    }

    @Override
    public void run(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            float[] x,
            int n,
            int tokens,
            float[] out,
            int outStride,
            Scratch scratch) {
        for (int r = firstRow; r < firstRow + rows; r += ROWS) {
            int count = Math.min(ROWS, firstRow + rows - r);
            for (int t = 0; t < tokens; t++) {
                kernel.dot(weights, rowBytes, r, count, x, t * n, n, scratch.floats(), 0);
                System.arraycopy(scratch.floats(), 0, out, t * outStride + r, count);
            }
        }
    }
}
