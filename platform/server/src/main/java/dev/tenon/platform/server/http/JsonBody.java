package dev.tenon.platform.server.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.chat.Json;

/// Reads bodies of requests.
final class JsonBody {
    private JsonBody() {}

    /// Reads the body of a request.
    ///
    /// @param bytes the body
    /// @return the object in it
    /// @throws RequestException (400) if it is none, or exceeds a limit
    static ObjectNode read(byte[] bytes) {
        if (!(parsed(bytes) instanceof ObjectNode object)) {
            throw RequestException.invalid(null, "The body is not a JSON object.");
        }
        return object;
    }

    /// Reads the body of a request.
    ///
    /// @param bytes the body
    /// @return the array in it
    /// @throws RequestException (400) if it is none, or exceeds a limit
    static ArrayNode readArray(byte[] bytes) {
        if (!(parsed(bytes) instanceof ArrayNode array)) {
            throw RequestException.invalid(null, "The body is not a JSON array.");
        }
        return array;
    }

    private static JsonNode parsed(byte[] bytes) {
        try {
            return Json.read(bytes);
        } catch (StreamConstraintsException e) {
            throw RequestException.tooMuch(
                            null, "json_limit", "The body exceeds a limit of JSON: " + e.getOriginalMessage())
                    .because(e);
        } catch (JsonProcessingException e) {
            throw RequestException.invalid(null, "The body is not valid JSON: " + where(e))
                    .because(e);
        }
    }

    private static String where(JsonProcessingException e) {
        String place = e.getLocation() == null
                ? ""
                : " (line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr() + ")";
        return e.getClass().getSimpleName() + place + ".";
    }
}
