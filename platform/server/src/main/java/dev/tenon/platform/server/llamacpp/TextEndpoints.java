package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import dev.tenon.platform.server.openai.ChatEndpoint;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// `POST /tokenize`, `/detokenize` and `/apply-template`: what a model makes of texts before it runs.
///
/// @param replies finds models
public record TextEndpoints(Replies replies) {
    /// The fields of `/tokenize`.
    public static final FieldTable TOKENIZE =
            FieldTable.of("model content add_special parse_special with_pieces", "", Map.of());

    /// The fields of `/detokenize`.
    public static final FieldTable DETOKENIZE = FieldTable.of("model tokens", "", Map.of());

    private static final String TOKENS = "tokens";

    void tokenize(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        TOKENIZE.check(body.node());
        String content = body.requiredText("content");
        boolean special = body.flag("add_special", false);
        boolean control = body.flag("parse_special", true);
        boolean pieces = body.flag("with_pieces", false);
        ServedModel served = replies.generations().model(body.text("model"));
        ObjectNode answer = Json.object();
        ArrayNode tokens = answer.putArray(TOKENS);
        try (ServedModel.Lease lease = served.lease()) {
            Tokenizer tokenizer = lease.model().tokenizer();
            for (int id : tokenizer.encode(content, special, control)) {
                if (pieces) {
                    tokens.addObject().put("id", id).set("piece", piece(tokenizer, id));
                } else {
                    tokens.add(id);
                }
            }
        }
        exchange.json(answer);
    }

    /// The text of a token; its bytes where they are no whole text.
    private static JsonNode piece(Tokenizer tokenizer, int id) {
        byte[] bytes = tokenizer.bytes(id);
        if (bytes.length == 0) {
            return Json.tree(tokenizer.piece(id));
        }
        try {
            return Json.tree(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException e) {
            ArrayNode array = Json.array();
            for (byte each : bytes) {
                array.add(each & 0xFF);
            }
            return array;
        }
    }

    void detokenize(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        DETOKENIZE.check(body.node());
        body.require(TOKENS);
        ArrayNode given = body.array(TOKENS, Integer.MAX_VALUE);
        ServedModel served = replies.generations().model(body.text("model"));
        try (ServedModel.Lease lease = served.lease()) {
            int[] tokens = new int[given.size()];
            for (int i = 0; i < tokens.length; i++) {
                tokens[i] = CompletionEndpoint.id(body, TOKENS, given.get(i), lease.model());
            }
            exchange.json(Json.object().put("content", lease.model().tokenizer().decode(tokens)));
        }
    }

    void applyTemplate(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        ChatEndpoint.FIELDS.check(body.node());
        ChatRequest input = ChatEndpoint.input(body, replies.media());
        ServedModel served = replies.generations().model(body.text("model"));
        try (ServedModel.Lease lease = served.lease()) {
            exchange.json(Json.object()
                    .put("prompt", replies.prompt(served, lease, input).text()));
        }
    }
}
