package dev.tenon.kernels.x86;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The `linear` kernel of F16 and BF16: activations stay 32-bit floats, a packed row is a copy of the row.
///
/// Rows are streamed, up to four tokens a pass ([HalfRowsCode]); a value does not depend on the other
/// tokens
/// and rows. Nothing is rounded but 32-bit products and sums.
final class HalfLinear extends MachineKernel {
    private final boolean bfloat;

    /// Creates the kernel; no code is generated yet.
    ///
    /// @param bfloat whether weights are BF16 rather than F16
    /// @param set which instructions may be used
    HalfLinear(boolean bfloat, FeatureSet set) {
        super(bfloat ? "BF16" : "F16", 1, set);
        this.bfloat = bfloat;
    }

    @Override
    public long packedBytes(int n) {
        requireLength(n);
        return ((long) n * Float.BYTES + 63) / 64 * 64;
    }

    @Override
    long weightBytes(int n) {
        return (long) n * Short.BYTES;
    }

    @Override
    KernelCode generateCode() {
        return KernelCode.generateFloats(bfloat, set);
    }

    @Override
    void packChecked(KernelCode k, float[] x, int xOffset, int n, MemorySegment packed) {
        MemorySegment.copy(x, xOffset, packed, ValueLayout.JAVA_FLOAT, 0, n);
    }

    @Override
    void runChecked(
            KernelCode k,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            float[] out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        runRows(k, n, 0, weights, rowBytes, firstRow, rows, n, packed, tokens, out, outOffset, outStride, scratch);
    }
}
