package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.CpuNorm;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.op.RouterRows;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// Norm, the router's logits and its choice.
///
/// @param x `[T, width]`
/// @param norm the norm
/// @param normed `[T, width]`, its result
/// @param logits projection to the router's logits
/// @param router the choice, from the logits on
/// @param packing packs the norm's result for the projection
public record CpuNormRouter(
        Activations x, RowNorm norm, Activations normed, BoundLinear logits, RouterRows router, Packing packing)
        implements CpuKernel {
    @Override
    public int phases(StepContext c) {
        return c.single(normed) ? 2 : 3;
    }

    @Override
    public boolean selected() {
        return normed.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        boolean single = c.single(normed);
        switch (single ? phase + 1 : phase) {
            case 0 -> CpuNorm.rows(c, x, norm, normed, packing, thread);
            case 1 -> {
                float[] in = normed.data;
                if (single) {
                    in = CpuNorm.own(c, x, norm, packing, thread);
                    if (thread == 0) {
                        System.arraycopy(in, 0, normed.data, 0, normed.width);
                    }
                }
                project(c, in, thread);
            }
            default -> {
                int rows = c.rows(normed);
                for (int r = c.claim(1); r < rows; r = c.claim(1)) {
                    router.row(c, r, c.scratch(thread).floats());
                }
            }
        }
    }

    private void project(StepContext c, float[] in, int thread) {
        int rows = logits.rows();
        int tokens = c.rows(normed);
        int panel = logits.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            logits.run(in, tokens, from, c.claimedTo(from, rows, tokens, panel), router.logits(), c, thread);
        }
    }
}
