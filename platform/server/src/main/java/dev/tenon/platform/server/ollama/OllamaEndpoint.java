package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;

/// What all end points of Ollama's wire have: the form of errors, and names of models in either of two fields.
@FunctionalInterface
interface OllamaEndpoint extends Endpoint {
    @Override
    default ObjectNode error(RequestException error) {
        return Json.object().put("error", error.getMessage());
    }

    /// {@return the body of a request; as in Ollama, fields that nobody knows change nothing, and the answer names
    /// them}
    ///
    /// @param exchange the request
    /// @param fields those that are known
    static Body body(Exchange exchange, FieldTable fields) {
        Body body = Body.of(exchange.body());
        exchange.ignores(fields.unknown(body.node()));
        return body;
    }

    /// {@return the name of the model of a request}
    ///
    /// @param body has it in `model`, or in the older field `name`
    static String model(Body body) {
        return body.has("name") && !body.has("model") ? body.text("name") : body.requiredText("model");
    }
}
