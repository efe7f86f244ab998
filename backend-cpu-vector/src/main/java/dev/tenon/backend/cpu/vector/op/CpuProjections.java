package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Norm, projections, and what happens to their heads: everything before attention.
///
/// @param x `[rows, width]`
/// @param norm norm of the input, or null to project it as it is
/// @param normed `[rows, width]`, memory for the norm's result; `x` without a norm
/// @param normRead whether other ops read the norm's result
/// @param linears the projections, such as those of queries, keys and values
/// @param heads what happens to the heads of each after the projection; in place
/// @param packing packs the norm's result for the projections
public record CpuProjections(
        Activations x,
        RowNorm norm,
        Activations normed,
        boolean normRead,
        BoundLinear[] linears,
        CpuRope[] heads,
        Packing packing)
        implements CpuKernel {
    @Override
    public int phases(StepContext c) {
        return projection(c) + (headCount(c) > 0 ? 2 : 1);
    }

    private int headCount(StepContext c) {
        int count = 0;
        for (CpuRope each : heads) {
            count += each.headCount(c);
        }
        return count;
    }

    /// The phase of the projections: the first one, unless rows are prepared for all threads before.
    private int projection(StepContext c) {
        return packing.before(c, heads[0].out(), norm != null) ? 1 : 0;
    }

    @Override
    public boolean selected() {
        return heads[0].out().selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        switch (phase - projection(c)) {
            case -1 -> CpuNorm.rows(c, x, norm, normed, packing, thread);
            case 0 -> {
                float[] in = normed.data;
                if (c.single(heads[0].out())) {
                    in = CpuNorm.own(c, x, norm, packing, thread);
                    if (normRead && thread == 0) {
                        System.arraycopy(in, 0, normed.data, 0, normed.width);
                    }
                }
                project(c, in, thread);
            }
            default -> {
                int count = headCount(c);
                int grain = c.grain(count);
                for (int i = c.claim(grain); i < count; i = c.claim(grain)) {
                    int from = i;
                    int to = Math.min(i + grain, count);
                    for (CpuRope each : heads) {
                        int own = each.headCount(c);
                        each.heads(c, Math.max(from, 0), Math.min(to, own));
                        from -= own;
                        to -= own;
                    }
                }
            }
        }
    }

    private void project(StepContext c, float[] in, int thread) {
        int rows = 0;
        for (BoundLinear each : linears) {
            rows += each.rows();
        }
        int tokens = c.rows(heads[0].out());
        int panel = linears[0].panelRows();
        for (int at = c.claimRows(rows, tokens, panel); at < rows; at = c.claimRows(rows, tokens, panel)) {
            int from = at;
            int to = c.claimedTo(at, rows, tokens, panel);
            for (int i = 0; i < linears.length; i++) {
                part(c, linears[i], in, heads[i].out(), from, to, thread);
                from -= linears[i].rows();
                to -= linears[i].rows();
            }
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
