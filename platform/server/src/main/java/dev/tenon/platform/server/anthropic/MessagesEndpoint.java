package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.util.UUID;

/// `POST /v1/messages`.
///
/// @param replies answers conversations
public record MessagesEndpoint(Replies replies) implements AnthropicEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = MessagesInput.FIELDS;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        ServedModel served = replies.generations().model(body.text("model"));
        body.require("max_tokens");
        ChatRequest input = MessagesInput.read(body, replies.media());
        ReplySettings settings = new ReplySettings(
                body,
                1,
                (int) body.whole("max_tokens", 1, Integer.MAX_VALUE, 1),
                SamplingFields.stops(body, "stop_sequences"),
                -1,
                false,
                0);
        exchange.interruptWhenClientLeaves();
        String id = "msg_" + UUID.randomUUID().toString().replace("-", "");
        ObjectNode message = Json.object()
                .put("id", id)
                .put("type", "message")
                .put("role", "assistant")
                .put("model", served.spec().name());
        if (body.flag("stream", false)) {
            try (ServedModel.Lease lease = served.lease()) {
                ChatPrompt prompt = replies.prompt(served, lease, input);
                MessageEvents events = new MessageEvents(message, exchange.events()::send, prompt.tokens().length);
                events.finish(usage(replies.answer(exchange, served, lease, input, prompt, settings, index -> events)));
            }
        } else {
            MessageReply reply = new MessageReply();
            Replies.Counts counts = replies.answer(exchange, served, input, settings, index -> reply);
            reply.into(message);
            message.set("usage", usage(counts));
            exchange.json(message);
        }
    }

    /// {@return counts of tokens; those of the prompt that had been computed count apart}
    static ObjectNode usage(Replies.Counts counts) {
        return Json.object()
                .put("input_tokens", counts.prompt() - counts.cached())
                .put("cache_creation_input_tokens", 0)
                .put("cache_read_input_tokens", counts.cached())
                .put("output_tokens", counts.generated());
    }
}
