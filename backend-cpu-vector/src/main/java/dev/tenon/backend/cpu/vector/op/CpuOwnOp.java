package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// An op that a model bundle defines itself. Threads take some rows, or a part of them.
public final class CpuOwnOp implements CpuKernel {
    private final Op op;
    private final OpKernel.Rows code;
    private final Activations[] in;
    private final Activations[] out;
    private final HostFloats[] inFloats;
    private final HostFloats[] outFloats;
    private final boolean selected;

    /// Binds an op to its arrays.
    ///
    /// @param op the op
    /// @param code computes its rows
    /// @param in its inputs
    /// @param out its outputs
    /// @param selected whether rows are those that want logits
    public CpuOwnOp(Op op, OpKernel.Rows code, Activations[] in, Activations[] out, boolean selected) {
        this.op = op;
        this.code = code;
        this.in = in;
        this.out = out;
        this.inFloats = new HostFloats[in.length];
        this.outFloats = new HostFloats[out.length];
        this.selected = selected;
    }

    @Override
    public boolean selected() {
        return selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        // Arrays change between steps only, so all threads of a step write the same here.
        views(in, inFloats);
        views(out, outFloats);
        int rows = c.rows(selected);
        int parts = code.parts();
        int grain = c.grain(rows);
        int items = Math.multiplyExact(Math.ceilDiv(rows, grain), parts);
        float[] scratch = c.scratch(thread).floats();
        for (int i = c.claim(1); i < items; i = c.claim(1)) {
            int first = i / parts * grain;
            try {
                code.run(inFloats, outFloats, first, Math.min(grain, rows - first), i % parts, scratch);
            } catch (RuntimeException | Error e) {
                throw new IllegalStateException(
                        "op " + op.kind() + " -> " + op.outputs() + " of "
                                + op.getClass().getName() + " failed: " + e,
                        e);
            }
        }
    }

    private static void views(Activations[] values, HostFloats[] views) {
        for (int i = 0; i < values.length; i++) {
            views[i] = values[i].floats;
        }
    }
}
