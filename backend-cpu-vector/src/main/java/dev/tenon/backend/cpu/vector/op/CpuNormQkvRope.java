package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.memory.Activations;

/// Norm, the three projections, QK-norm and rotation: everything before attention.
///
/// @param x `[rows, width]`
/// @param norm norm of the input, or null to project it as it is
/// @param normed `[rows, width]`, memory for the norm's result; `x` without a norm
/// @param normRead whether other ops read the norm's result
/// @param q query projection
/// @param k key projection
/// @param v value projection
/// @param qHeads what happens to query heads after the projection; in place
/// @param kHeads what happens to key heads after the projection; in place
/// @param vOut `[rows, v.rows]`
/// @param packing packs the norm's result for the projections
public record CpuNormQkvRope(
        Activations x,
        RowNorm norm,
        Activations normed,
        boolean normRead,
        BoundLinear q,
        BoundLinear k,
        BoundLinear v,
        CpuRope qHeads,
        CpuRope kHeads,
        Activations vOut,
        Packing packing)
        implements CpuKernel {
    @Override
    public int phases(StepContext c) {
        boolean heads = qHeads.headCount(c) + kHeads.headCount(c) > 0;
        return projection(c) + (heads ? 2 : 1);
    }

    /// The phase of the projections: the first one, unless rows are normed or packed for all threads before.
    private int projection(StepContext c) {
        return !c.single(vOut) && (norm != null || packing.any()) ? 1 : 0;
    }

    @Override
    public boolean selected() {
        return vOut.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        switch (phase - projection(c)) {
            case -1 -> CpuNorm.rows(c, x, norm, normed, packing);
            case 0 -> {
                float[] in = normed.data;
                if (c.single(vOut)) {
                    in = CpuNorm.own(c, x, norm, packing, thread);
                    if (normRead && thread == 0) {
                        System.arraycopy(in, 0, normed.data, 0, normed.width);
                    }
                }
                project(c, in, thread);
            }
            default -> {
                int qCount = qHeads.headCount(c);
                int count = qCount + kHeads.headCount(c);
                int grain = c.grain(count);
                for (int i = c.claim(grain); i < count; i = c.claim(grain)) {
                    int end = Math.min(i + grain, count);
                    qHeads.heads(c, i, Math.min(end, qCount));
                    kHeads.heads(c, Math.max(i - qCount, 0), end - qCount);
                }
            }
        }
    }

    private void project(StepContext c, float[] in, int thread) {
        int rows = q.rows() + k.rows() + v.rows();
        int tokens = c.rows(vOut);
        int panel = q.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            int to = c.claimedTo(from, rows, tokens, panel);
            part(c, q, in, qHeads.out(), from, to, thread);
            part(c, k, in, kHeads.out(), from - q.rows(), to - q.rows(), thread);
            part(c, v, in, vOut, from - q.rows() - k.rows(), to - q.rows() - k.rows(), thread);
        }
    }

    private void part(StepContext c, BoundLinear linear, float[] in, Activations out, int from, int to, int thread) {
        int first = Math.max(from, 0);
        int last = Math.min(to, linear.rows());
        if (first < last) {
            linear.run(in, c.rows(out), first, last, out, c, thread);
        }
    }
}
