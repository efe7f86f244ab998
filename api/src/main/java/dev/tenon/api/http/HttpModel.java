package dev.tenon.api.http;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import org.osgi.annotation.versioning.ProviderType;

/// A model of the server in the hands of a request. A request has one at a time.
@ProviderType
public interface HttpModel extends AutoCloseable {
    /// {@return its name, as the server lists it}
    String name();

    /// {@return the model; not closed by the caller}
    LoadedModel model();

    /// {@return how it chats}
    ChatModel chat();

    /// Waits for a turn in the queue of the model's requests, and opens a session. Once.
    ///
    /// @return the session, which is closed with this
    /// @throws dev.tenon.api.error.TenonException if too many wait; a handler lets it pass
    /// @throws InterruptedException if the thread is interrupted while it waits
    Session session() throws InterruptedException;

    /// Lets the model go.
    @Override
    void close();
}
