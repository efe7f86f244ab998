package dev.tenon.backend.nv.tegra.check;

/// The outcome of one step of a [BoardCheck].
///
/// @param step what was looked at
/// @param level how it came out
/// @param expected what a working board shows
/// @param found what this one shows
/// @param advice what to do; empty if nothing
public record Finding(String step, Level level, String expected, String found, String advice) {
    /// How a step came out.
    public enum Level {
        /// As expected.
        PASS,
        /// Nothing to compare with: something to know beside the other findings.
        NOTE,
        /// Not as expected; no further step is tried.
        SURPRISE
    }
}
