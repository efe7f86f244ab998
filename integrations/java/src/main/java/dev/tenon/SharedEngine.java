package dev.tenon;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.core.StandaloneEngine;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The engine that models share which are loaded without one: made for the first, closed with the
/// last.
final class SharedEngine {
    private static @Nullable Engine engine;
    private static int users;

    private SharedEngine() {}

    /// The use of an engine by one model.
    ///
    /// @param engine the engine
    /// @param end ends it
    record Use(Engine engine, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            end.run();
        }
    }

    /// {@return a use of the engine; closed once}
    static synchronized Use use() {
        Engine now = engine;
        if (now == null) {
            now = StandaloneEngine.create(Map.of());
            engine = now;
        }
        users++;
        return new Use(now, SharedEngine::leave);
    }

    private static synchronized void leave() {
        users--;
        Engine last = engine;
        if (users == 0 && last != null) {
            engine = null;
            last.close();
        }
    }
}
