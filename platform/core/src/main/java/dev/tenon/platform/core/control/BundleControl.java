package dev.tenon.platform.core.control;

import org.osgi.annotation.versioning.ProviderType;

/// What a server lets people do with the bundles of a running platform. Safe for any thread.
@ProviderType
public interface BundleControl {
    /// Runs one command.
    ///
    /// @param command `list`, `why`, `install`, `update` or `remove`
    /// @param argument the path of a model or jar, or the bundle's name; empty for `list`
    /// @return text for people; JSON for `list` and `why`
    /// @throws dev.tenon.api.error.TenonException if it fails; nothing has changed then
    String run(String command, String argument);
}
