package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.backend.cpu.vector.math.RopeTable;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Norm of each head, rotation by the token's position, and a scale by it: each where wanted.
///
/// @param x `[rows, heads * headDim]`
/// @param norm norm of groups before the rotation, or null; only in place (`x == out`)
/// @param table sines and cosines, or null to rotate nothing
/// @param params how to rotate; null without a table
/// @param scale scales what was rotated, or null
/// @param out same shape; `x` unless it is only rotated
public record CpuRope(
        Activations x, RowNorm norm, RopeTable table, RopeParams params, PositionScale scale, Activations out)
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
        return norm == null && table == null && scale == null ? 0 : c.rows(out) * (out.width / unit());
    }

    /// Does a range of units; nothing if it is empty.
    void heads(StepContext c, int from, int to) {
        int unit = unit();
        int perRow = out.width / unit;
        if (norm != null && from < to) {
            norm.groups(x, from * unit, out, (to - from) * (unit / norm.group()));
        }
        for (int i = from; i < to; i++) {
            int token = c.token(out.selected, i / perRow);
            for (int h = 0; table != null && h < unit; h += params.headDim()) {
                table.head(token, params, norm != null ? out.data : x.data, i * unit + h, out.data, i * unit + h);
            }
            if (scale != null) {
                float factor = scale.factor(c.input().position(token));
                for (int e = i * unit; e < (i + 1) * unit; e++) {
                    out.data[e] *= factor;
                }
            }
        }
    }

    /// A head, or the whole row when the norm's groups are not parts of a head.
    private int unit() {
        if (table == null) {
            return norm == null ? out.width : norm.group();
        }
        return norm == null || params.headDim() % norm.group() == 0 ? params.headDim() : out.width;
    }
}
