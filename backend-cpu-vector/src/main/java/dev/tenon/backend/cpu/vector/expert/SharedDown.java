package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.op.StepContext;

/// The second half of a shared expert, as a part of the kernel of the others.
///
/// @param x `[T, cols]`
/// @param linear down projection
/// @param shares `[T, 1]`, its weight, or null for 1
/// @param packing packs `x`
public record SharedDown(Activations x, BoundLinear linear, Activations shares, Packing packing) {
    float share(int token) {
        return shares == null ? 1 : shares.data[token];
    }

    void packOwn(int thread) {
        packing.own(x, thread);
    }

    void pack(StepContext c) {
        packing.rows(c, x);
    }
}
