package dev.tenon.platform.core.control;

import org.osgi.annotation.versioning.ProviderType;

/// What a benchmark does with a session beyond the api.
@ProviderType
public interface MeasuredSession {
    /// Appends tokens and computes the logits after the last one, which nobody reads: a device need
    /// not send them.
    ///
    /// @param tokens token ids
    /// @throws dev.tenon.api.error.TenonException as [dev.tenon.api.engine.Session#evaluate]
    void evaluateUnread(int[] tokens);
}
