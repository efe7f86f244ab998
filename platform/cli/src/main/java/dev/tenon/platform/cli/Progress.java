package dev.tenon.platform.cli;

import org.osgi.annotation.versioning.ProviderType;

/// Progress of a long task. Safe for any thread.
@ProviderType
public interface Progress extends AutoCloseable {
    /// Sets how much is done.
    ///
    /// @param done in the unit that the bar was made with
    void to(long done);

    /// Sets how much is done and how much there is.
    ///
    /// @param done in the unit that the bar was made with
    /// @param total how much there is; -1 when unknown
    void to(long done, long total);

    /// Removes the bar. Calling it twice does nothing.
    @Override
    void close();
}
