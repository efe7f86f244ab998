package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.EventStream;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ModelStore.PullState;
import java.util.Map;

/// `POST /api/pull`: downloads a model from the hub.
///
/// @param manager downloads
public record PullEndpoint(ModelManager manager) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
            "model name stream", "username password", Map.of("insecure", "Downloads are always checked."));

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = OllamaEndpoint.body(exchange, FIELDS);
        String source = OllamaEndpoint.model(body);
        boolean stream = body.flag("stream", true);
        exchange.interruptWhenClientLeaves();
        EventStream lines = stream ? exchange.lines() : null;
        try {
            manager.pull(source, state -> {
                if (stream) {
                    lines.send(line(state));
                }
            });
        } catch (TenonException e) {
            throw refusal(e).because(e);
        }
        ObjectNode done = Json.object().put("status", "success");
        if (stream) {
            lines.send(done);
        } else {
            exchange.json(done);
        }
    }

    /// A name that is none is the client's mistake; that a registry has no such model, or cannot be asked, is told as
    /// Ollama tells it.
    private static RequestException refusal(TenonException e) {
        return e.code().equals(ErrorCode.USAGE)
                ? RequestException.invalid("model", e.getMessage())
                : RequestException.of(500, "server_error", e.code(), e.getMessage());
    }

    private static ObjectNode line(PullState state) {
        ObjectNode line = Json.object().put("status", state.step());
        if (state.file() != null) {
            line.put("digest", state.file());
            if (state.total() >= 0) {
                line.put("total", state.total());
            }
            line.put("completed", state.done());
        }
        return line;
    }
}
