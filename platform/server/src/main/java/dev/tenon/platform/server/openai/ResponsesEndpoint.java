package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.time.Instant;
import java.util.List;

/// `POST /v1/responses`. Nothing is kept from one request to the next.
///
/// @param replies answers conversations
public record ResponsesEndpoint(Replies replies) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = ResponsesInput.FIELDS;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        ServedModel served = replies.generations().model(body.text("model"));
        ChatRequest input = ResponsesInput.read(body, replies.media());
        int most = (int) body.whole("max_output_tokens", 1, Integer.MAX_VALUE, -1);
        ReplySettings settings = new ReplySettings(body, 1, most, List.of(), -1, false, 0);
        exchange.interruptWhenClientLeaves();
        ObjectNode response = Json.object()
                .put("id", Wire.id("resp_"))
                .put("object", "response")
                .put("created_at", Instant.now().getEpochSecond())
                .put("model", served.spec().name())
                .put("instructions", body.text("instructions"))
                .put("parallel_tool_calls", input.severalCalls())
                .put("store", false)
                .put("tool_choice", input.offeredTools().isEmpty() ? "none" : "auto");
        ArrayNode tools = response.putArray("tools");
        body.array("tools", Messages.MOST_TOOLS).forEach(tools::add);
        response.putObject("metadata");
        boolean stream = body.flag("stream", false);
        ResponseOutput output = new ResponseOutput(response, stream ? exchange.events() : null);
        Replies.Counts counts = replies.answer(exchange, served, input, settings, index -> {
            output.begin();
            return output;
        });
        ObjectNode whole = output.finish(counts);
        if (!stream) {
            exchange.json(whole);
        }
    }

    @Override
    public ObjectNode error(RequestException error) {
        ObjectNode body = Endpoint.super.error(error);
        return body.put("type", "error")
                .put("code", error.code())
                .put("message", error.getMessage())
                .put("param", error.param());
    }

    @Override
    public String errorEvent() {
        return "error";
    }
}
