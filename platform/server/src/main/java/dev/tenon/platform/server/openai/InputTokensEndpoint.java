package dev.tenon.platform.server.openai;

import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;

/// `POST /v1/responses/input_tokens`: counts the tokens of a request's prompt.
///
/// @param replies makes prompts
public record InputTokensEndpoint(Replies replies) implements Endpoint {
    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        ResponsesEndpoint.FIELDS.check(body.node());
        ServedModel served = replies.generations().model(body.text("model"));
        try (ServedModel.Lease lease = served.lease()) {
            int tokens = replies.prompt(served, lease, ResponsesInput.read(body, replies.media()))
                    .tokens()
                    .length;
            exchange.json(Json.object().put("object", "response.input_tokens").put("input_tokens", tokens));
        }
    }
}
