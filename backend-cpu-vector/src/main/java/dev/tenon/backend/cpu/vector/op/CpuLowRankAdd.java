package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// What low-rank adapters add to a projection that another kernel computes.
///
/// @param x `[rows, cols]`
/// @param base `[rows, width]`
/// @param changes the adapters' changes
/// @param out `[rows, width]`
/// @param packing multiplies `x` with their first matrices
public record CpuLowRankAdd(Activations x, Activations base, LowRankChange[] changes, Activations out, Packing packing)
        implements CpuKernel {
    /// Elements of a row that a thread takes at once.
    private static final int GRAIN = 128;

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public int phases(StepContext c) {
        return packing.before(c, out, false) ? 2 : 1;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        if (phase < phases(c) - 1) {
            CpuNorm.rows(c, x, null, x, packing, thread);
            return;
        }
        int tokens = c.rows(out);
        if (c.single(out)) {
            CpuNorm.own(c, x, null, packing, thread);
        }
        int width = out.width;
        LinearCall call = c.scratch(thread).call().times(null, tokens);
        for (int from = c.claim(GRAIN); from < width; from = c.claim(GRAIN)) {
            int to = Math.min(from + GRAIN, width);
            for (int at = from; at < tokens * width; at += width) {
                System.arraycopy(base.data, at, out.data, at, to - from);
            }
            call.rows(from, to - from).to(out.floats, from, width);
            for (LowRankChange change : changes) {
                change.up(c, call, thread);
            }
        }
    }
}
