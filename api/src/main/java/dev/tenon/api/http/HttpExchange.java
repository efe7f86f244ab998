package dev.tenon.api.http;

import dev.tenon.api.engine.Engine;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.osgi.annotation.versioning.ProviderType;

/// A request and its answer. For the thread of the request, unless a method says something else.
@ProviderType
public interface HttpExchange extends HttpCall {
    /// {@return what the path has below that of the end point; empty where it has no `/*`}
    String rest();

    /// {@return the JSON object of the request, with the declared fields}
    ///
    /// @throws IllegalStateException if the end point has no fields ([HttpFields#none()])
    HttpBody body();

    /// Reads the body of an end point that has no fields; the same bytes each time.
    ///
    /// @return its bytes
    /// @throws RequestException if it is too large, or comes too slowly
    /// @throws IllegalStateException if the end point has fields
    byte[] bytes();

    /// Interrupts this thread once the client has left. Called by what takes long; the body is read
    /// before, and the connection ends with the answer. [#events()] does it, too.
    void interruptWhenClientLeaves();

    /// {@return whether the client is known to have left; for any thread}
    boolean clientLeft();

    /// Takes a model of the server, which is loaded unless it is.
    ///
    /// @param name what requests call it; null for the first one
    /// @return the model, which stays loaded until it is closed; the caller closes it
    /// @throws RequestException (404) if there is none
    /// @throws InterruptedException if the thread is interrupted while it waits
    HttpModel model(@Nullable String name) throws InterruptedException;

    /// {@return the engine of the server; not closed by the caller}
    Engine engine();

    /// Answers with JSON.
    ///
    /// @param status HTTP status
    /// @param body maps with texts as keys, lists, strings, numbers, booleans and null
    /// @throws IllegalStateException if there is an answer already
    void json(int status, @Nullable Object body);

    /// Answers with JSON and status 200.
    ///
    /// @param body see [#json(int, Object)]
    default void json(@Nullable Object body) {
        json(200, body);
    }

    /// Answers with bytes.
    ///
    /// @param status HTTP status
    /// @param type their content type
    /// @param bytes the bytes
    /// @throws IllegalStateException if there is an answer already
    void bytes(int status, String type, byte[] bytes);

    /// Answers with plain text and status 200.
    ///
    /// @param text the text
    default void text(String text) {
        bytes(200, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    /// Answers with a stream of events, status 200. Until the first one the request can still be
    /// refused.
    ///
    /// @return takes the events; the same one each time
    /// @throws IllegalStateException if there is an answer already
    HttpEvents events();
}
