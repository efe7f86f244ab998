package dev.tenon.backend.cpu.vector;

/// A projection and the residual it is added to.
///
/// @param x `[rows, cols]`
/// @param linear the weights
/// @param residual `[rows, linear.rows]`
/// @param out same shape
/// @param packing packs `x`
record LinearAddStep(Activations x, BoundLinear linear, Activations residual, Activations out, Packing packing)
        implements CpuStep {
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
        int tokens = c.rows(out);
        int panel = linear.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            int to = c.claimedTo(from, rows, tokens, panel);
            linear.run(x.data, tokens, from, to, out.data, out.width, c.scratch(thread));
            for (int t = 0; t < tokens; t++) {
                add(out.data, residual.data, t * out.width + from, t * out.width + to);
            }
        }
    }

    /// Adds a range in a method of its own: it is what the JIT compiler finds hot in the first step, and as a
    /// loop of [#run] it has the whole linear kernel compiled with it.
    private static void add(float[] out, float[] residual, int from, int to) {
        for (int i = from; i < to; i++) {
            out[i] += residual[i];
        }
    }
}
