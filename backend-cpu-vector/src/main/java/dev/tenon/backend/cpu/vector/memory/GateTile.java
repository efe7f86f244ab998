package dev.tenon.backend.cpu.vector.memory;

import dev.tenon.api.kernel.cpu.HostFloats;

/// A thread's memory for the gate and up projections of some rows, where they stay in its cache until they
/// have become one.
///
/// @param gate `[tokens, rows]`
/// @param up `[tokens, rows]`
public record GateTile(HostFloats gate, HostFloats up) {
    /// Creates it.
    ///
    /// @param gate `[tokens, rows]`
    /// @param up `[tokens, rows]`
    public GateTile(float[] gate, float[] up) {
        this(new HostFloats(gate), new HostFloats(up));
    }

    /// {@return whether there is room}
    ///
    /// @param tokens how many
    /// @param rows how many
    public boolean holds(int tokens, int rows) {
        return (long) tokens * rows <= gate.length();
    }
}
