package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Norm of each head, where wanted, and rotation by the token's position.
///
/// @param x `[rows, heads * headDim]`
/// @param norm norm of groups before the rotation, or null; only in place (`x == out`)
/// @param table sines and cosines, or null to rotate nothing
/// @param params how to rotate; null without a table
/// @param out same shape; may be `x`
public record CpuRope(Activations x, RowNorm norm, RopeTable table, RopeParams params, Activations out)
        implements CpuKernel {
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
        return norm == null && table == null ? 0 : c.rows(out) * (out.width / unit());
    }

    /// Does a range of units; nothing if it is empty.
    void heads(StepContext c, int from, int to) {
        int unit = unit();
        int perRow = out.width / unit;
        if (norm != null && from < to) {
            norm.groups(x, from * unit, out, (to - from) * (unit / norm.group()));
        }
        if (table == null) {
            return;
        }
        int dim = params.headDim();
        for (int i = from; i < to; i++) {
            int token = c.token(out.selected, i / perRow);
            for (int h = 0; h < unit; h += dim) {
                table.head(token, params, norm != null ? out.data : x.data, i * unit + h, out.data, i * unit + h);
            }
        }
    }

    /// A head, or the whole row when the norm's groups are not parts of a head.
    private int unit() {
        if (table == null) {
            return norm.group();
        }
        return norm == null || params.headDim() % norm.group() == 0 ? params.headDim() : out.width;
    }
}
