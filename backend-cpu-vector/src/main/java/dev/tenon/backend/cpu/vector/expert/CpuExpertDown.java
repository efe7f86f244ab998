package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.util.Arrays;

/// Down projections of the chosen experts, their weighted sum, that of a shared expert, and the sum with a
/// residual.
///
/// Threads claim rows of the result and multiply them with the matrices of all experts, so that no sum has two
/// writers. The experts of a token are added in ascending order of their numbers, whatever the step has beside it.
///
/// @param input the rows
/// @param down down matrices
/// @param shares `[T, used]`
/// @param residual `[T, rows]`, or null
/// @param out `[T, rows]`
/// @param shared the shared expert, or null
/// @param math adds
public record CpuExpertDown(
        ExpertInput input,
        ExpertMatrix down,
        Activations shares,
        Activations residual,
        Activations out,
        SharedDown shared,
        ElementMath math)
        implements CpuKernel {
    /// Rows of a claim when tokens are many: most and least.
    private static final int MOST_ROWS = 128;

    private static final int LEAST_ROWS = 32;

    /// Rows of a claim of one token are a multiple of this.
    private static final int UNIT = 16;

    @Override
    public int phases(StepContext c) {
        return c.single(out) ? 1 : shared == null ? 3 : 4;
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        if (c.single(out)) {
            single(c, thread);
        } else if (phase == 0) {
            input.group(c);
        } else if (phase == 1) {
            input.pack(c);
        } else if (phase < phases(c) - 1) {
            shared.pack(c);
        } else {
            int rows = down.rows();
            int share = c.grain(rows) / 2 / LEAST_ROWS * LEAST_ROWS;
            int panel = Math.clamp(share, LEAST_ROWS, MOST_ROWS);
            for (int from = c.claim(panel); from < rows; from = c.claim(panel)) {
                groups(from, Math.min(from + panel, rows), c, thread);
            }
        }
    }

    /// One token: claims as long as those of a matrix with the rows of all of its experts.
    private void single(StepContext c, int thread) {
        input.packOwn(thread);
        if (shared != null) {
            shared.packOwn(thread);
        }
        int[] order = input.ascending(thread);
        int rows = down.rows();
        int used = input.used();
        int all = rows * used;
        int panel = down.any().panelRows();
        int most = c.gateTile(thread).gate().length();
        for (int from = c.claimRows(all, 1, panel); from < all; from = c.claimRows(all, 1, panel)) {
            int end = rowAt(c.claimedTo(from, all, 1, panel), rows, used);
            for (int at = rowAt(from, rows, used); at < end; at += most) {
                single(order, at, Math.min(end, at + most), c, thread);
            }
        }
    }

    private static int rowAt(int ofAll, int rows, int used) {
        return Math.min(rows, Math.ceilDiv(ofAll, used * UNIT) * UNIT);
    }

    private void single(int[] order, int from, int to, StepContext c, int thread) {
        HostFloats tile = c.gateTile(thread).gate();
        Scratch scratch = c.scratch(thread);
        start(0, from, to);
        for (int i = 0; i < input.used(); i++) {
            int k = order[i];
            scratch.call().rows(from, to - from).to(tile, 0, to - from);
            input.runOwn(down, k, scratch, thread);
            math.addScaled(out.data, from, tile.array(), 0, to - from, shares.data[k]);
        }
        if (shared != null) {
            shared.linear().runOwn(shared.x().data, from, to, tile, 0, c, thread);
            math.addScaled(out.data, from, tile.array(), 0, to - from, shared.share(0));
        }
    }

    private void groups(int from, int to, StepContext c, int thread) {
        HostFloats tile = c.gateTile(thread).gate();
        int tokens = c.rows(out);
        int n = to - from;
        for (int t = 0; t < tokens; t++) {
            start(t, from, to);
        }
        ExpertGroups groups = input.groups();
        for (int i = 0; i < groups.activeCount(); i++) {
            int expert = groups.active(i);
            input.gather(expert, thread);
            input.run(down, expert, from, to, tile, c, thread);
            for (int j = 0; j < groups.count(expert); j++) {
                int pair = groups.pair(groups.first(expert) + j);
                int row = pair / input.used() * out.width;
                math.addScaled(out.data, row + from, tile.array(), j * n, n, shares.data[pair]);
            }
        }
        if (shared != null) {
            shared.linear().runTile(shared.x().data, tokens, from, to, tile, c, thread);
            for (int t = 0; t < tokens; t++) {
                math.addScaled(out.data, t * out.width + from, tile.array(), t * n, n, shared.share(t));
            }
        }
    }

    /// Begins the sums of a token with the residual.
    private void start(int token, int from, int to) {
        int row = token * out.width;
        if (residual != null) {
            System.arraycopy(residual.data, row + from, out.data, row + from, to - from);
        } else {
            Arrays.fill(out.data, row + from, row + to, 0f);
        }
    }
}
