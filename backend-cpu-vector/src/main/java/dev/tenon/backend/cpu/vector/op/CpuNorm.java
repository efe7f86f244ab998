package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Norm of each group of each row.
///
/// @param x `[rows, width]`
/// @param norm the norm
/// @param out `[rows, width]`
public record CpuNorm(Activations x, RowNorm norm, Activations out) implements CpuKernel {
    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        rows(c, x, norm, out);
    }

    /// Norms all rows, each as one group, and packs them, shared among the threads; without a norm packs `x`. A single
    /// row each thread norms and packs for itself.
    public static void rows(StepContext c, Activations x, RowNorm norm, Activations out, Packing packing, int thread) {
        if (c.single(out)) {
            packing.downSingle(c, prepare(c, x, norm, packing, thread));
            return;
        }
        if (norm == null) {
            packing.rows(c, x);
            return;
        }
        int width = norm.group();
        int rows = c.rows(out);
        int grain = c.grain(rows);
        for (int i = c.claim(grain); i < rows; i = c.claim(grain)) {
            int to = Math.min(i + grain, rows);
            for (int t = i; t < to; t++) {
                norm.groups(x, t * width, out, 1);
                packing.row(out, t);
            }
            packing.down(c, out, i, to);
        }
    }

    /// Norms the row of a step that has one only, as one group, and packs it, for a single thread; without a
    /// norm packs it as it is. Where a phase before has done so ([Packing#before]) ends what that began.
    ///
    /// @return the normed row
    public static float[] own(StepContext c, Activations x, RowNorm norm, Packing packing, int thread) {
        if (packing.changed(c)) {
            packing.sum(c, thread);
            return norm == null ? x.data : c.normed(thread).data;
        }
        return prepare(c, x, norm, packing, thread);
    }

    private static float[] prepare(StepContext c, Activations x, RowNorm norm, Packing packing, int thread) {
        if (norm == null) {
            packing.own(x, thread);
            return x.data;
        }
        Activations row = c.normed(thread);
        norm.groups(x, 0, row, 1);
        packing.own(row, thread);
        return row.data;
    }

    /// Norms all groups of all rows, shared among the threads.
    static void rows(StepContext c, Activations x, RowNorm norm, Activations out) {
        int group = norm.group();
        int groups = c.rows(out) * (out.width / group);
        int grain = c.grain(groups);
        for (int i = c.claim(grain); i < groups; i = c.claim(grain)) {
            norm.groups(x, i * group, out, Math.min(grain, groups - i));
        }
    }
}
