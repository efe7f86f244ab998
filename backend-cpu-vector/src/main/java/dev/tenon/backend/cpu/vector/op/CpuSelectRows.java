package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.memory.Activations;

/// Copies the rows that want logits.
///
/// @param x `[T, width]`
/// @param out `[L, width]`
public record CpuSelectRows(Activations x, Activations out) implements CpuKernel {
    @Override
    public int phases() {
        return 1;
    }

    @Override
    public boolean selected() {
        return true;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int rows = c.rows(out);
        for (int r = c.claim(1); r < rows; r = c.claim(1)) {
            System.arraycopy(x.data, c.token(true, r) * x.width, out.data, r * out.width, out.width);
        }
    }
}
