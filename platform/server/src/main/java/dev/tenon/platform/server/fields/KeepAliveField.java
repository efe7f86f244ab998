package dev.tenon.platform.server.fields;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.platform.server.models.KeepAlive;
import java.time.Duration;

/// The field that says how long a model stays loaded.
public final class KeepAliveField {
    private static final String NAME = "keep_alive";

    private KeepAliveField() {}

    /// {@return how long the model stays loaded after a request, or null where it does not say}
    ///
    /// @param body the request
    public static Duration read(Body body) {
        if (!body.has(NAME)) {
            return null;
        }
        JsonNode value = body.node().get(NAME);
        if (!value.isNumber() && !value.isTextual()) {
            throw body.wrong(NAME, "seconds, or a duration such as 5m");
        }
        return KeepAlive.parse(value.asText().strip())
                .orElseThrow(() -> body.wrong(NAME, "seconds, or a duration such as 5m"));
    }
}
