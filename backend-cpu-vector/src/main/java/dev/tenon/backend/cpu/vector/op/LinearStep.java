package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.memory.Activations;

/// A projection.
///
/// @param x `[rows, cols]`
/// @param linear the weights
/// @param out `[rows, linear.rows]`
/// @param packing packs `x`
public record LinearStep(Activations x, BoundLinear linear, Activations out, Packing packing) implements CpuStep {
    @Override
    public int phases() {
        return packing.any() ? 2 : 1;
    }

    @Override
    public int phases(StepContext c) {
        return c.single(out) ? 1 : phases();
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        if (c.single(out)) {
            packing.own(x, thread);
        } else if (phase + 1 < phases()) {
            packing.rows(c, x);
            return;
        }
        int rows = linear.rows();
        int tokens = c.rows(out);
        int panel = linear.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            int to = c.claimedTo(from, rows, tokens, panel);
            linear.run(x.data, tokens, from, to, out, c, thread);
        }
    }
}
