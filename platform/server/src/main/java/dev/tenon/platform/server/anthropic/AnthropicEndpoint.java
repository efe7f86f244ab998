package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.http.Endpoint;

/// Writes errors as Anthropic's clients expect them.
interface AnthropicEndpoint extends Endpoint {
    @Override
    default ObjectNode error(RequestException error) {
        String type = switch (error.status()) {
            case 401 -> "authentication_error";
            case 403 -> "permission_error";
            case 404 -> "not_found_error";
            case 413 -> "request_too_large";
            case 429 -> "rate_limit_error";
            case 503 -> "overloaded_error";
            case 500 -> "api_error";
            default -> "invalid_request_error";
        };
        ObjectNode body = Json.object().put("type", "error");
        ObjectNode told = body.putObject("error").put("type", type).put("message", error.getMessage());
        told.putObject("details").put("error_code", error.code());
        return body;
    }

    @Override
    default String errorEvent() {
        return "error";
    }
}
