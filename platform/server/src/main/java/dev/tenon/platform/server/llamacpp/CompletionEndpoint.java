package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.chat.PromptText;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
import dev.tenon.platform.server.models.ServedModel;
import dev.tenon.platform.server.openai.EnforcedFields;
import java.util.Map;
import java.util.stream.IntStream;

/// `POST /completion`: continues a text, without the chat template.
///
/// @param replies continues texts
public record CompletionEndpoint(Replies replies) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS =
            FieldTable.of("prompt", "", Map.of()).and(NativeFields.TABLE);

    private static final String PROMPT = "prompt";

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        body.require(PROMPT);
        JsonNode prompt = body.node().get(PROMPT);
        answer(exchange, replies, body, prompt.isTextual() ? prompt.asText() : null, model -> tokens(body, model));
    }

    /// Makes the tokens of a prompt.
    @FunctionalInterface
    interface Prompt {
        /// {@return the tokens}
        ///
        /// @param model the model, loaded
        int[] tokens(LoadedModel model);
    }

    /// Continues a prompt and answers.
    ///
    /// @param exchange the request
    /// @param replies continues it
    /// @param body its fields, checked
    /// @param text the prompt, if it is a text; else null
    /// @param prompt makes its tokens
    static void answer(Exchange exchange, Replies replies, Body body, String text, Prompt prompt)
            throws InterruptedException {
        ServedModel served = replies.generations().model(body.text("model"));
        ReplySettings settings = NativeFields.settings(body);
        TextFormat format = EnforcedFields.format(body);
        NativeReply reply;
        Replies.Counts counts;
        boolean stream = body.flag("stream", false);
        exchange.interruptWhenClientLeaves();
        try (ServedModel.Lease lease = served.lease()) {
            Replies.requireText(lease.model());
            int[] tokens = prompt.tokens(lease.model());
            reply = new NativeReply(
                    exchange,
                    served.spec().name(),
                    stream,
                    body.flag("return_tokens", false),
                    body.whole("n_probs", 0, Integer.MAX_VALUE, 0) > 0);
            NativeReply output = reply;
            counts = replies.complete(exchange, served, lease, tokens, format, settings, index -> output);
        }
        reply.finish(counts, text);
    }

    private static int[] tokens(Body body, LoadedModel model) {
        JsonNode prompt = body.node().get(PROMPT);
        int[] tokens;
        if (prompt.isTextual()) {
            tokens = PromptText.encode(model, prompt.asText(), true);
        } else if (prompt.isArray()) {
            tokens = mixed(body, prompt, model);
            PromptText.requireRoom(tokens.length, model.contextLength());
        } else {
            throw body.wrong(PROMPT, "a string, or an array of strings and token ids");
        }
        if (tokens.length == 0) {
            throw RequestException.invalid(PROMPT, "The prompt is empty; expected at least one token.");
        }
        return tokens;
    }

    /// The tokens of an array of texts and token ids; before a text at its begin those that the vocabulary adds.
    private static int[] mixed(Body body, JsonNode parts, LoadedModel model) {
        IntStream.Builder all = IntStream.builder();
        boolean first = true;
        for (JsonNode part : parts) {
            if (part.isTextual()) {
                IntStream.of(model.tokenizer().encode(part.asText(), first, true))
                        .forEach(all::add);
            } else {
                all.add(id(body, PROMPT, part, model));
            }
            first = false;
        }
        return all.build().toArray();
    }

    /// {@return a token id of a request}
    ///
    /// @param body the request
    /// @param field the field that has it
    /// @param id the id
    /// @param model has the vocabulary
    static int id(Body body, String field, JsonNode id, LoadedModel model) {
        boolean fits = id.isIntegralNumber() && id.canConvertToInt() && id.asInt() >= 0;
        if (!fits || id.asInt() >= model.config().vocabularySize()) {
            throw body.wrong(
                    field, "texts, or token ids from 0 to " + (model.config().vocabularySize() - 1));
        }
        return id.asInt();
    }
}
