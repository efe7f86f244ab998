package dev.tenon.backend.cpu.vector.op;

/// Functions of single elements, computed in double where they are curved.
final class Elementwise {
    private Elementwise() {}

    /// {@return a value bent so that it stays within a cap}
    ///
    /// @param x argument
    /// @param cap the cap
    static float softCap(float x, float cap) {
        return (float) (cap * Math.tanh((double) x / cap));
    }
}
