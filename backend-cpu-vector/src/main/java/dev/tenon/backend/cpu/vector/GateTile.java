package dev.tenon.backend.cpu.vector;

import java.lang.foreign.MemorySegment;

/// A thread's memory for the gate and up projections of some rows, where they stay in its cache until they
/// have become one.
///
/// @param gate `[tokens, rows]`
/// @param up `[tokens, rows]`
/// @param gateView view of `gate`
/// @param upView view of `up`
record GateTile(float[] gate, float[] up, MemorySegment gateView, MemorySegment upView) {
    /// Creates it with views of its arrays.
    ///
    /// @param gate `[tokens, rows]`
    /// @param up `[tokens, rows]`
    GateTile(float[] gate, float[] up) {
        this(gate, up, MemorySegment.ofArray(gate), MemorySegment.ofArray(up));
    }

    /// {@return whether there is room}
    ///
    /// @param tokens how many
    /// @param rows how many
    boolean holds(int tokens, int rows) {
        return (long) tokens * rows <= gate.length;
    }
}
