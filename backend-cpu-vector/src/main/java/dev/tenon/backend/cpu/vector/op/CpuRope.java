package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Norm of each head, where wanted, and rotation by the token's position.
///
/// @param x `[rows, heads * headDim]`
/// @param norm norm of groups before the rotation, or null; only in place (`x == out`)
/// @param table sines and cosines
/// @param params how to rotate
/// @param out same shape; may be `x`
public record CpuRope(Activations x, RmsNormMath norm, RopeTable table, RopeParams params, Activations out)
        implements CpuKernel {
    @Override
    public int phases() {
        return 1;
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int count = headCount(c);
        int grain = c.grain(count);
        for (int i = c.claim(grain); i < count; i = c.claim(grain)) {
            heads(c, i, Math.min(i + grain, count));
        }
    }

    /// {@return units of work in this step: heads of all rows, or whole rows if the norm spans more than a
    /// head}
    int headCount(StepContext c) {
        return c.rows(out) * (out.width / unit());
    }

    /// Does a range of units; nothing if it is empty.
    void heads(StepContext c, int from, int to) {
        int unit = unit();
        int perRow = out.width / unit;
        int dim = params.headDim();
        if (norm != null && from < to) {
            norm.groups(x, from * unit, out, (to - from) * (unit / norm.group()));
        }
        for (int i = from; i < to; i++) {
            int token = c.token(out.selected, i / perRow);
            for (int h = 0; h < unit; h += dim) {
                table.head(token, params, norm != null ? out.data : x.data, i * unit + h, out.data, i * unit + h);
            }
        }
    }

    /// A head, or the whole row when the norm's groups are not parts of a head.
    private int unit() {
        return norm == null || params.headDim() % norm.group() == 0 ? params.headDim() : out.width;
    }
}
