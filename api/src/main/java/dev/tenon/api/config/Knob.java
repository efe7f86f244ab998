package dev.tenon.api.config;

import java.util.List;
import java.util.Objects;

/// A setting whose best value depends on the machine and the model, so that it is worth trying: what
/// `tenon tune` searches among. Immutable.
///
/// ```java
/// static final List<Knob> KNOBS = List.of(
///         Knob.exact(CLAIMS.name(), List.of("16", "32")),
///         Knob.rounding(BLOCK.name(), List.of("128", "256")).compiled());
/// ```
///
/// @param setting name of a declared setting that a request may give; besides, `threads` of the
///     platform
/// @param values values to try, each allowed by the setting; the default is tried always and need
///     not be among them; unmodifiable
/// @param keepsBits whether results have the same bits with each value; otherwise they differ by
///     rounding
/// @param compiles whether a value that was not used before needs kernels to be compiled, and not
///     only a new plan
public record Knob(String setting, List<String> values, boolean keepsBits, boolean compiles) {
    /// Copies the list.
    public Knob {
        Objects.requireNonNull(setting, "setting");
        values = List.copyOf(values);
    }

    /// {@return a knob that changes no result, and needs only a new plan}
    ///
    /// @param setting name of the setting
    /// @param values values to try
    public static Knob exact(String setting, List<String> values) {
        return new Knob(setting, values, true, false);
    }

    /// {@return a knob that changes the order of sums, and needs only a new plan}
    ///
    /// @param setting name of the setting
    /// @param values values to try
    public static Knob rounding(String setting, List<String> values) {
        return new Knob(setting, values, false, false);
    }

    /// {@return the same knob, of a setting that kernels are compiled for}
    public Knob compiled() {
        return new Knob(setting, values, keepsBits, true);
    }
}
