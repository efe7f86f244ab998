package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.call.NativeCall;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.linear.panels.PanelFunctions;
import dev.tenon.kernels.x86.linear.panels.PanelLoop;
import java.lang.foreign.MemorySegment;

/// Runs the functions of [PanelLoop] over rows: each panel is unpacked to scratch memory and
/// multiplied with all tokens.
///
/// Scratch memory: temporary memory for unpacking, a panel, results `[tokens][BLOCK]`.
final class PanelLinear {
    /// Rows of results that are kept in scratch memory before they are copied out: whole panels.
    private static final int BLOCK = 64;
    private static final long BLOCK_BYTES = (long) BLOCK * Float.BYTES;
    /// Products in one call of a panel function: some tens of microseconds.
    private static final int BRIEF_PRODUCTS = 3 << 20;

    private final BlockCode format;
    private final PanelShape shape;

    PanelLinear(BlockCode format, FeatureSet set) {
        this.format = format;
        this.shape = PanelShape.of(set);
    }

    /// {@return bytes of scratch memory for a number of tokens}
    long scratchBytes(int n, int tokens) {
        return resultsAt(n) + tokens * BLOCK_BYTES;
    }

    private long resultsAt(int n) {
        return PanelShape.TEMP_BYTES + shape.panelBytes(format, n);
    }

    /// Multiplies all rows of a call with all its tokens.
    void run(LinearCode k, LinearCall call) {
        boolean direct = call.tokens >= MachineLinear.DIRECT_TOKENS;
        int whole = direct ? call.rows / shape.rows() * shape.rows() : 0;
        if (whole > 0) {
            panels(k, call, 0, whole, call.out.view(), (long) call.outOffset * Float.BYTES, call.outStride);
        }
        long results = resultsAt(call.n);
        for (int r = whole; r < call.rows; r += BLOCK) {
            int count = Math.min(BLOCK, call.rows - r);
            panels(k, call, r, count, call.scratch, results, BLOCK);
            MachineLinear.copyOut(call, results, BLOCK_BYTES, 0, call.tokens, r, count);
        }
    }

    /// Multiplies rows; writes whole panels, `[tokens][stride]` floats.
    ///
    /// @param row the first row
    /// @param results receives them
    /// @param at byte of `results` where they begin
    private void panels(LinearCode k, LinearCall call, int row, int rows, MemorySegment results, long at, int stride) {
        int n = call.n;
        long packedStride = PackedActivations.packedBytes(format, n);
        PanelFunctions.Length functions = k.panels.of(n);
        int most = Math.max(1, BRIEF_PRODUCTS / (shape.rows() * shape.many() * n));
        int fetches = PanelLoop.fetches(format, n, shape.rows(), shape.runs(call.tokens));
        long fetched = fetches * PanelLoop.fetchedBytes(format, n);
        long strideBytes = (long) stride * Float.BYTES;
        for (int p = 0; p < rows; p += shape.rows()) {
            unpack(k, call, row + p, rows - p);
            long to = at + (long) p * Float.BYTES;
            long ahead = call.rowAt(row + p + shape.rows());
            long end = call.rowAt(row + Math.min(p + 2 * shape.rows(), rows));
            int t = 0;
            while (t < call.tokens) {
                int left = call.tokens - t;
                int times = Math.min(shape.runsOfMany(left), most);
                boolean many = times > 0;
                int size = many ? shape.many() : shape.few();
                times = Math.max(times, 1);
                // The last tokens may be computed twice rather than one by one.
                int first = Math.min(t, call.tokens - times * size);
                boolean fetch = ahead < end;
                NativeCall.brief(
                        many ? functions.many() : functions.few(),
                        call.packed,
                        call.scratch,
                        results,
                        first * packedStride,
                        strideBytes,
                        times,
                        to + first * strideBytes,
                        fetch ? call.weights.address() + ahead : call.scratch.address(),
                        fetch ? fetches : 1,
                        0,
                        0);
                ahead += times * fetched;
                t = first + times * size;
            }
        }
    }

    /// Unpacks a panel, or what there is of one: its lower part, then its upper part.
    private void unpack(LinearCode k, LinearCall call, int row, int rows) {
        for (int r = 0; r < Math.min(rows, shape.rows()); r += shape.lanes()) {
            NativeCall.plain(
                    k.unpack,
                    call.weights,
                    call.scratch,
                    call.scratch,
                    call.rowAt(row + r),
                    call.rowBytes,
                    Math.min(shape.lanes(), rows - r),
                    call.n / BlockCode.UNIT,
                    PanelShape.TEMP_BYTES + (long) r * Float.BYTES,
                    0,
                    0,
                    0);
        }
    }
}
