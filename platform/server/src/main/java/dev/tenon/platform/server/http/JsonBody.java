package dev.tenon.platform.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import java.io.IOException;

/// Reads bodies of requests.
final class JsonBody {
    private JsonBody() {}

    /// Reads the body of a request.
    ///
    /// @param bytes the body
    /// @return the object in it
    /// @throws RequestException (400) if it is none, or exceeds a limit
    static ObjectNode read(byte[] bytes) {
        JsonNode tree = parsed(bytes);
        if (!(tree instanceof ObjectNode object)) {
            throw RequestException.invalid(null, "The body is " + Json.kind(tree) + "; expected a JSON object.");
        }
        return object;
    }

    /// Reads the body of a request.
    ///
    /// @param bytes the body
    /// @return the array in it
    /// @throws RequestException (400) if it is none, or exceeds a limit
    static ArrayNode readArray(byte[] bytes) {
        JsonNode tree = parsed(bytes);
        if (!(tree instanceof ArrayNode array)) {
            throw RequestException.invalid(null, "The body is " + Json.kind(tree) + "; expected a JSON array.");
        }
        return array;
    }

    private static JsonNode parsed(byte[] bytes) {
        try {
            return Json.read(bytes);
        } catch (IOException e) {
            throw JsonFault.of(e);
        }
    }
}
