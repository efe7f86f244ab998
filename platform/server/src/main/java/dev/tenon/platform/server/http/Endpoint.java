package dev.tenon.platform.server.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;

/// Answers the requests of one route. Called on a virtual thread of the request's own; may block.
@FunctionalInterface
public interface Endpoint {
    /// Answers a request.
    ///
    /// @param exchange the request and its answer
    /// @throws RequestException if the request is refused
    /// @throws InterruptedException if the client left
    void handle(Exchange exchange) throws InterruptedException;

    /// {@return the body of an error}
    ///
    /// @param error what is refused, or what failed
    default ObjectNode error(RequestException error) {
        ObjectNode body = Json.object();
        body.putObject("error")
                .put("message", error.getMessage())
                .put("type", error.type())
                .put("param", error.param())
                .put("code", error.code());
        return body;
    }

    /// {@return the name of the event that tells an error in the middle of a stream; null for one without}
    default String errorEvent() {
        return null;
    }
}
