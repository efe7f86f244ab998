package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.GateTile;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// The first half of a shared expert, as a part of the kernel of the others.
///
/// @param x `[T, cols]`
/// @param gate gate projection, or the only one
/// @param up up projection, or null
/// @param memory what experts share
/// @param math what becomes of both
/// @param out `[T, rows]`
/// @param packing packs `x`
public record SharedUp(
        Activations x,
        BoundLinear gate,
        BoundLinear up,
        ExpertMemory memory,
        GateMath math,
        Activations out,
        Packing packing) {
    int rows() {
        return gate.rows();
    }

    void packOwn(int thread) {
        packing.own(x, thread);
    }

    void pack(StepContext c) {
        packing.rows(c, x);
    }

    /// Some rows for the step's only token.
    void single(int from, int to, StepContext c, int thread) {
        gate.run(x.data, 1, from, to, out, c, thread);
        if (up != null) {
            up.runOwn(x.data, from, to, memory.sharedUp(), from, c, thread);
        }
        math.range(out.floats, memory.sharedUp(), from, 1, to - from);
    }

    /// Some rows for all tokens of the step.
    void tile(int from, int to, StepContext c, int thread) {
        GateTile tile = c.gateTile(thread);
        int tokens = c.rows(out);
        gate.runTile(x.data, tokens, from, to, tile.gate(), c, thread);
        if (up != null) {
            up.runTile(x.data, tokens, from, to, tile.up(), c, thread);
        }
        math.tile(tokens, from, to, tile, out);
    }
}
