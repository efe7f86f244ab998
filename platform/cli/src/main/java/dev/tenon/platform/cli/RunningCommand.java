package dev.tenon.platform.cli;

import org.osgi.annotation.versioning.ProviderType;

/// The command that the process runs. Safe for any thread.
@ProviderType
public interface RunningCommand {
    /// Has a new bundle's command take the place of the running one, if that is the old bundle's
    /// and can be succeeded ([Console#offer]); waits until it does its work.
    ///
    /// @param old number of the bundle that is replaced
    /// @param next number of the bundle that takes its place
    /// @throws IllegalStateException if the new command cannot begin, for the reason of its cause
    ///     or text; the running one goes on
    void replace(long old, long next);
}
