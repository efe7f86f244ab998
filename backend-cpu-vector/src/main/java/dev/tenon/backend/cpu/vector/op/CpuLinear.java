package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.math.ElementDispatch;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// A projection, and the sum with a residual if there is one.
///
/// @param x `[rows, cols]`
/// @param linear the weights
/// @param residual `[rows, linear.rows]`, added to the projection; null for none
/// @param out `[rows, linear.rows]`
/// @param packing packs `x`
/// @param elements adds
public record CpuLinear(
        Activations x,
        BoundLinear linear,
        Activations residual,
        Activations out,
        Packing packing,
        ElementDispatch elements)
        implements CpuKernel {
    @Override
    public int phases(StepContext c) {
        return packing.before(c, out, false) ? 2 : 1;
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        if (phase < phases(c) - 1) {
            CpuNorm.rows(c, x, null, x, packing, thread);
            return;
        }
        if (c.single(out)) {
            CpuNorm.own(c, x, null, packing, thread);
        }
        int rows = linear.rows();
        int tokens = c.rows(out);
        int panel = linear.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            int to = c.claimedTo(from, rows, tokens, panel);
            linear.run(x.data, tokens, from, to, out, c, thread);
            if (residual != null) {
                elements.add(tokens, from, to, residual, out);
            }
        }
    }
}
