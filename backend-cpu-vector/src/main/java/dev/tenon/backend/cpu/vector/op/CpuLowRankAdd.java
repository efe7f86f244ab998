package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.device.StepInput;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// What low-rank adapters add to a projection. Adapters that no sequence of a step uses are not read;
/// one that some use is multiplied with all rows, and added to those of its sequences.
///
/// @param x `[rows, cols]`
/// @param base `[rows, width]`
/// @param parts the adapters
/// @param delta what one adapter adds, `[rows, width]`
/// @param out `[rows, width]`
/// @param packing packs `x`
public record CpuLowRankAdd(
        Activations x, Activations base, Part[] parts, Activations delta, Activations out, Packing packing)
        implements CpuKernel {
    /// Rows of the first product that a thread takes at once.
    private static final int DOWN_ROWS = 16;
    /// Elements that a thread copies at once.
    private static final int GRAIN = 4096;

    /// An adapter.
    ///
    /// @param adapter which of the graph's
    /// @param a `[rank, cols]`
    /// @param b `[width, rank]`
    /// @param factor factor beside the scale of a sequence
    /// @param down the first product, `[rows, rank]`
    /// @param packing packs `down`
    public record Part(int adapter, BoundLinear a, BoundLinear b, float factor, Activations down, Packing packing) {
        private boolean used(StepInput input) {
            for (int s = 0; s < input.sequenceCount(); s++) {
                if (input.adapterScale(s, adapter) != 0) {
                    return true;
                }
            }
            return false;
        }

        private int phases(boolean single) {
            return packing.any() && !single ? 2 : 1;
        }
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    /// With adapters: the rows are packed, then multiplied with `A` of all of them; each one's product is
    /// packed, then multiplied with its `B`.
    @Override
    public int phases(StepContext c) {
        int phases = 0;
        for (Part part : parts) {
            phases += part.used(c.input()) ? part.phases(c.single(out)) : 0;
        }
        return phases == 0 ? 1 : downPhase(c) + 1 + phases;
    }

    private int downPhase(StepContext c) {
        return packing.any() && !c.single(out) ? 1 : 0;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int down = downPhase(c);
        int next = down + 1;
        for (Part part : parts) {
            if (!part.used(c.input())) {
                continue;
            }
            if (phase < down) {
                packing.rows(c, x);
                return;
            }
            if (phase == down) {
                down(c, thread);
                return;
            }
            boolean first = next == down + 1;
            next += part.phases(c.single(out));
            if (phase == next - 1) {
                up(c, part, first, thread);
                return;
            }
            if (phase < next) {
                part.packing.rows(c, part.down);
                return;
            }
        }
        copy(c);
    }

    private void copy(StepContext c) {
        int total = c.rows(out) * out.width;
        for (int i = c.claim(GRAIN); i < total; i = c.claim(GRAIN)) {
            System.arraycopy(base.data, i, out.data, i, Math.min(GRAIN, total - i));
        }
    }

    private void down(StepContext c, int thread) {
        if (c.single(out)) {
            packing.own(x, thread);
        }
        int first = 0;
        int unit = c.claim(1);
        for (Part part : parts) {
            if (!part.used(c.input())) {
                continue;
            }
            int rank = part.a.rows();
            int units = Math.ceilDiv(rank, DOWN_ROWS);
            while (unit < first + units) {
                int from = (unit - first) * DOWN_ROWS;
                part.a.run(x.data, c.rows(out), from, Math.min(from + DOWN_ROWS, rank), part.down, c, thread);
                unit = c.claim(1);
            }
            first += units;
        }
    }

    private void up(StepContext c, Part part, boolean first, int thread) {
        if (c.single(out)) {
            part.packing.own(part.down, thread);
        }
        int rows = out.width;
        int tokens = c.rows(out);
        int panel = part.b.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            int to = c.claimedTo(from, rows, tokens, panel);
            part.b.run(part.down.data, tokens, from, to, delta, c, thread);
            for (int t = 0; t < tokens; t++) {
                add(c, part, first ? base.data : out.data, t, from, to);
            }
        }
    }

    private void add(StepContext c, Part part, float[] before, int row, int from, int to) {
        int sequence = c.input().sequence(c.token(out.selected, row));
        float scale = c.input().adapterScale(sequence, part.adapter);
        int at = row * out.width;
        if (scale == 0) {
            System.arraycopy(before, at + from, out.data, at + from, to - from);
            return;
        }
        float factor = scale * part.factor;
        for (int i = at + from; i < at + to; i++) {
            out.data[i] = before[i] + factor * delta.data[i];
        }
    }
}
