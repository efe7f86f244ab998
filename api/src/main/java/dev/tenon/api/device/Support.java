package dev.tenon.api.device;

import java.util.Objects;

/// How well a compiler supports an op.
///
/// @param level how well
/// @param reason which kernel runs it, or why none does; for people
public record Support(Level level, String reason) {
    /// How well an op is supported.
    public enum Level {
        /// A kernel made for the op and its formats.
        FAST,
        /// Right but slow: a scalar or generic kernel, or a format that is transcoded at load.
        GENERIC,
        /// Not at all.
        NONE
    }

    /// Checks that nothing is null.
    public Support {
        Objects.requireNonNull(level, "level");
        Objects.requireNonNull(reason, "reason");
    }
}
