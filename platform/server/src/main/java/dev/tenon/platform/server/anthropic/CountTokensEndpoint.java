package dev.tenon.platform.server.anthropic;

import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;

/// `POST /v1/messages/count_tokens`.
///
/// @param replies finds models
public record CountTokensEndpoint(Replies replies) implements AnthropicEndpoint {
    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        MessagesInput.FIELDS.check(body.node());
        ServedModel served = replies.generations().model(body.text("model"));
        try (ServedModel.Lease lease = served.lease()) {
            ChatPrompt prompt = replies.prompt(served, lease, MessagesInput.read(body, replies.media()));
            exchange.json(Json.object().put("input_tokens", prompt.tokens().length));
        }
    }
}
