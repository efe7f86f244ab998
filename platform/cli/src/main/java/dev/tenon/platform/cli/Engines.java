package dev.tenon.platform.cli;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;

/// Requires an engine.
public final class Engines {
    private Engines() {}

    /// {@return the engine}
    ///
    /// @param engine the engine, or null
    /// @throws TenonException (`ENV-003`) if it is null
    public static Engine require(Engine engine) {
        if (engine == null) {
            throw new TenonException(
                    ErrorCode.ENV_PLATFORM,
                    "No model can be loaded: the engine's bundle is missing or does not start. See 'tenon doctor'.");
        }
        return engine;
    }
}
