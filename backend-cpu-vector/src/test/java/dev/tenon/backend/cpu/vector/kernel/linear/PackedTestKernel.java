package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear;
import dev.tenon.backend.cpu.vector.selection.VectorKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A [PermutedLinear] that packs in front of every call, so that tests treat all kernels alike. For one thread.
final class PackedTestKernel implements FloatLinear {
    /// A row that every kernel accepts.
    private static final int ROW = 2048;

    private final PermutedLinear kernel;
    private MemorySegment packed = MemorySegment.NULL;
    private MemorySegment scratch = MemorySegment.NULL;

    private PackedTestKernel(PermutedLinear kernel) {
        this.kernel = kernel;
    }

    /// {@return the Vector API kernel for a format, or null}
    ///
    /// @param format the format
    static FloatLinear of(QuantFormat format) {
        PermutedLinear packed = VectorKernels.packed(format.id());
        return packed != null ? new PackedTestKernel(packed) : VectorKernels.linear(format, ROW);
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
        return 0;
    }

    @Override
    public int scratchBytes(int n) {
        return 0;
    }

    @Override
    public void run(LinearCall call, float[] x, Scratch unused) {
        int n = call.n;
        packed = atLeast(packed, kernel.packedBytes(n, call.tokens));
        scratch = atLeast(scratch, kernel.scratchBytes(n, call.tokens));
        HostFloats activations = new HostFloats(x);
        for (int t = 0; t < call.tokens; t++) {
            kernel.pack(activations, t * n, n, packed, t);
        }
        kernel.run(new LinearCall(scratch)
                .of(call.weights, call.rowBytes, n)
                .rows(call.firstRow, call.rows)
                .times(packed, call.tokens)
                .to(call.out, call.outOffset, call.outStride));
    }

    private static MemorySegment atLeast(MemorySegment memory, long bytes) {
        return memory.byteSize() >= bytes ? memory : Arena.ofAuto().allocate(bytes, 64);
    }
}
