package dev.tenon.backend.cpu.vector.kv;

import java.util.concurrent.atomic.AtomicIntegerArray;

/// Memory of a plan where threads that share a head's context leave their segments' results.
///
/// @param states `[key heads, segments, rows of a key head]`
/// @param done how many segments of a key head are done in this step
public record AttentionSplit(Tiles.State states, AtomicIntegerArray done) {
    /// Forgets what a step that failed may have left.
    public void reset() {
        for (int i = 0; i < done.length(); i++) {
            done.set(i, 0);
        }
    }
}
