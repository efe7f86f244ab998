package dev.tenon.backend.cpu.vector;

/// A projection.
///
/// @param x `[rows, cols]`
/// @param linear the weights
/// @param out `[rows, linear.rows]`
/// @param packing packs `x`
record LinearStep(Activations x, BoundLinear linear, Activations out, Packing packing) implements CpuStep {
    @Override
    public int phases() {
        return packing.any() ? 2 : 1;
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        if (phase + 1 < phases()) {
            packing.rows(c, x);
            return;
        }
        int rows = linear.rows();
        int grain = c.rowGrain(rows, c.rows(out));
        for (int r = c.claim(grain); r < rows; r = c.claim(grain)) {
            linear.run(x.data, c.rows(out), r, Math.min(r + grain, rows), out.data, out.width, c.scratch(thread));
        }
    }
}
