package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.linear.panels.F16PanelLoop;
import dev.tenon.kernels.x86.linear.rows.RowLoop;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The `linear` kernel of F16 and BF16: activations stay 32-bit floats, a packed row is a copy of
/// the row.
///
/// Up to five tokens rows are streamed, up to four tokens a pass (`F16RowLoop`); with more, panels
/// of rows are multiplied with six tokens a pass ([F16PanelLoop]). Both add in the same order: a
/// value does not depend on the other tokens and rows. Nothing is rounded but 32-bit products and
/// sums.
public final class F16Linear extends MachineLinear {
    private final boolean bfloat;

    /// Creates the kernel; no code is generated yet.
    ///
    /// @param bfloat whether weights are BF16 rather than F16
    /// @param set which instructions may be used
    public F16Linear(boolean bfloat, FeatureSet set) {
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
    LinearCode generateCode() {
        return LinearCode.generateFloats(bfloat, set);
    }

    @Override
    void packChecked(LinearCode k, HostFloats x, int xOffset, int n, MemorySegment packed, long packedOffset) {
        MemorySegment.copy(x.array(), xOffset, packed, ValueLayout.JAVA_FLOAT, packedOffset, n);
    }

    @Override
    long rowLength(int n) {
        return n;
    }

    @Override
    long scalesOffset(int n) {
        return 0;
    }

    @Override
    void runChecked(LinearCode k, LinearCall call) {
        boolean wide = set.wide;
        int many = F16PanelLoop.TOKENS;
        int inPanels = 0;
        if (call.tokens >= many && call.n % F16PanelLoop.multiple(wide) == 0) {
            inPanels = call.rows / F16PanelLoop.rows(wide) * F16PanelLoop.rows(wide);
        }
        for (int r = 0; r < inPanels; r += STREAM_ROWS_SHARED) {
            int count = Math.min(STREAM_ROWS_SHARED, inPanels - r);
            int t = 0;
            while (t < call.tokens) {
                // Five last tokens are a panel with the one before them, which is computed twice; seven and eight are
                // two passes of rows.
                int left = call.tokens - t;
                boolean panel = left == many - 1 || left == many || left > 2 * RowLoop.MAX_TOKENS;
                int first = panel ? Math.min(t, call.tokens - many) : t;
                int group = panel ? many : Math.min(left, RowLoop.MAX_TOKENS);
                MemorySegment function = panel ? k.f16Panel : k.rows[group - 1];
                runGroup(call, function, r, count, first, group, STREAM_ROWS_SHARED);
                t = first + group;
            }
        }
        if (inPanels < call.rows) {
            runRows(k, call, inPanels);
        }
    }
}
