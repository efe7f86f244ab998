package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.GateTile;

/// Norm, gate and up projections and the gated activation.
///
/// @param x `[rows, width]`
/// @param norm norm of the input, or null to project it as it is
/// @param normed `[rows, width]`, memory for the norm's result; `x` without a norm
/// @param gate gate projection; the only one if nothing is gated
/// @param up up projection, or null
/// @param upOut `[rows, up.rows]`, memory for the up projection, or null
/// @param math activation and product
/// @param out `[rows, gate.rows]`
/// @param packing packs the norm's result for the projections
public record CpuNormGateUp(
        Activations x,
        RowNorm norm,
        Activations normed,
        BoundLinear gate,
        BoundLinear up,
        Activations upOut,
        GateMath math,
        Activations out,
        Packing packing)
        implements CpuKernel {
    @Override
    public int phases(StepContext c) {
        return first(c) + 1;
    }

    /// The phase of the projections: the first one, unless rows are prepared for all threads before.
    private int first(StepContext c) {
        return packing.before(c, out, norm != null) ? 1 : 0;
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        float[] in = normed.data;
        if (phase < first(c)) {
            CpuNorm.rows(c, x, norm, normed, packing, thread);
            return;
        }
        if (c.single(out)) {
            in = CpuNorm.own(c, x, norm, packing, thread);
        }
        int rows = gate.rows();
        int tokens = c.rows(out);
        int panel = gate.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            int to = c.claimedTo(from, rows, tokens, panel);
            if (tokens >= StepContext.MANY_TOKENS
                    && gate.packed() != null
                    && up != null
                    && up.packed() != null
                    && c.gateTile(thread).holds(tokens, to - from)) {
                tile(c, from, to, thread);
                continue;
            }
            gate.run(in, tokens, from, to, out, c, thread);
            if (up != null) {
                up.run(in, tokens, from, to, upOut, c, thread);
            }
            math.columns(tokens, from, to, out, upOut);
        }
    }

    /// Some rows for many tokens: in memory of the thread, because rows of different tokens lie in different
    /// pages, and the activation would fetch each of them again.
    private void tile(StepContext c, int from, int to, int thread) {
        int tokens = c.rows(out);
        GateTile tile = c.gateTile(thread);
        gate.runTile(normed.data, tokens, from, to, tile.gate(), c, thread);
        up.runTile(normed.data, tokens, from, to, tile.up(), c, thread);
        math.tile(tokens, from, to, tile, out);
    }
}
