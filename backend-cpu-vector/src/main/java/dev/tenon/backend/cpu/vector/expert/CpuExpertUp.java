package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.GateTile;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// Products with the matrices of the chosen experts, one or two with an activation between them, and the same
/// of a shared expert.
///
/// Of one token, threads claim rows of all of its experts' matrices, as if these were one. Of more tokens, they
/// claim panels of rows of an expert, which are multiplied with all tokens of the expert.
///
/// @param input the rows
/// @param gate gate matrices, or the only ones
/// @param up up matrices, or null
/// @param memory what experts share
/// @param math what becomes of both, or null for nothing
/// @param out `[T, used * rows]`
/// @param shared the shared expert, or null
public record CpuExpertUp(
        ExpertInput input,
        ExpertMatrix gate,
        ExpertMatrix up,
        ExpertMemory memory,
        GateMath math,
        Activations out,
        SharedUp shared)
        implements CpuKernel {
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
            groups(c, thread);
        }
    }

    private void single(StepContext c, int thread) {
        input.packOwn(thread);
        if (shared != null) {
            shared.packOwn(thread);
        }
        int rows = gate.rows();
        int ofExperts = rows * input.used();
        int all = ofExperts + (shared == null ? 0 : shared.rows());
        int panel = gate.any().panelRows();
        Scratch scratch = c.scratch(thread);
        for (int from = c.claimRows(all, 1, panel); from < all; from = c.claimRows(all, 1, panel)) {
            int to = c.claimedTo(from, all, 1, panel);
            int end = Math.min(to, ofExperts);
            for (int at = from; at < end; ) {
                int k = at / rows;
                int until = Math.min(end, (k + 1) * rows);
                scratch.call().rows(at - k * rows, until - at).to(out.floats, at, until - at);
                input.runOwn(gate, k, scratch, thread);
                if (up != null) {
                    scratch.call().to(memory.up(), at, until - at);
                    input.runOwn(up, k, scratch, thread);
                }
                at = until;
            }
            if (math != null && from < end) {
                math.range(out.floats, memory.up(), from, 1, end - from);
            }
            if (to > ofExperts) {
                shared.single(Math.max(from, ofExperts) - ofExperts, to - ofExperts, c, thread);
            }
        }
    }

    private void groups(StepContext c, int thread) {
        int rows = gate.rows();
        int panel = StepContext.MANY_TOKENS_ROWS;
        int panels = Math.ceilDiv(rows, panel);
        int ofExperts = input.groups().activeCount() * panels;
        int items = ofExperts + (shared == null ? 0 : Math.ceilDiv(shared.rows(), panel));
        for (int i = c.claim(1); i < items; i = c.claim(1)) {
            if (i < ofExperts) {
                int from = i % panels * panel;
                group(input.groups().active(i / panels), from, Math.min(from + panel, rows), c, thread);
            } else {
                int from = (i - ofExperts) * panel;
                shared.tile(from, Math.min(from + panel, shared.rows()), c, thread);
            }
        }
    }

    private void group(int expert, int from, int to, StepContext c, int thread) {
        GateTile tile = c.gateTile(thread);
        HostFloats values = tile.gate();
        int n = to - from;
        int tokens = input.groups().count(expert);
        input.gather(expert, thread);
        input.run(gate, expert, from, to, values, c, thread);
        if (up != null) {
            input.run(up, expert, from, to, tile.up(), c, thread);
        }
        if (math != null) {
            math.range(values, tile.up(), 0, tokens, n);
        }
        int first = input.groups().first(expert);
        for (int i = 0; i < tokens; i++) {
            int pair = input.groups().pair(first + i);
            System.arraycopy(values.array(), i * n, out.data, pair * gate.rows() + from, n);
        }
    }
}
