package dev.tenon.api.http;

import org.jspecify.annotations.Nullable;
import org.osgi.annotation.versioning.ProviderType;

/// An answer that is a stream of server-sent events. Ends with the call of the handler. Safe for
/// any thread.
@ProviderType
public interface HttpEvents {
    /// Sends an event; blocks while the client does not read.
    ///
    /// @param name its name, or null
    /// @param data JSON, see [HttpExchange#json(int, Object)]
    /// @throws java.io.UncheckedIOException if the client has left, or does not read
    void send(@Nullable String name, @Nullable Object data);

    /// Sends an event without a name.
    ///
    /// @param data see [#send(String, Object)]
    default void send(@Nullable Object data) {
        send(null, data);
    }
}
