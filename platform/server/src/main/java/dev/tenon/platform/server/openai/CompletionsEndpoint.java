package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.chat.PromptText;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.generation.InfillTokens;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.EventStream;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// `POST /v1/completions`: texts are continued, without the chat template.
///
/// @param replies continues texts
public record CompletionsEndpoint(Replies replies) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
                    "model prompt(texts or token ids) suffix(models with tokens for it) echo stream stream_options"
                            + " max_tokens(16) n best_of(as n) stop logprobs response_format json_schema grammar",
                    "user cache_prompt",
                    Map.of("id_slot", "Leave it out: computed prompts are found by themselves."))
            .and(SamplingFields.TABLE);

    private static final int MOST_PROMPTS = 64;
    private static final int MOST_CHOICES = 128;
    private static final int MOST_LOG_PROBABILITIES = 20;
    private static final int STANDARD_TOKENS = 16;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        ServedModel served = replies.generations().model(body.text("model"));
        boolean stream = body.flag("stream", false);
        boolean usage = ChatEndpoint.includeUsage(body, stream);
        int choices = (int) body.whole("n", 1, MOST_CHOICES, 1);
        if (body.whole("best_of", 1, MOST_CHOICES, choices) != choices) {
            throw RequestException.tooMuch(
                    "best_of", "unsupported_parameter", "best_of differs from n; ask for more choices with n.");
        }
        boolean echo = body.flag("echo", false);
        int logProbabilities = (int) body.whole("logprobs", 0, MOST_LOG_PROBABILITIES, -1);
        if (echo && logProbabilities >= 0) {
            throw RequestException.tooMuch(
                    "logprobs",
                    "unsupported_parameter",
                    "logprobs of an echoed prompt are not supported; leave out echo.");
        }
        ReplySettings settings = new ReplySettings(
                body,
                choices,
                (int) body.whole("max_tokens", -1, Integer.MAX_VALUE, STANDARD_TOKENS),
                SamplingFields.stops(body, "stop"),
                logProbabilities,
                body.flag("ignore_eos", false),
                SamplingFields.priority(body));
        TextFormat format = EnforcedFields.format(body);
        exchange.interruptWhenClientLeaves();
        ObjectNode head = Wire.head(
                Wire.id("cmpl-"),
                "text_completion",
                Instant.now().getEpochSecond(),
                served.spec().name());
        EventStream events = stream ? exchange.events() : null;
        List<TextChoice> all = new ArrayList<>();
        Replies.Counts counts = new Replies.Counts(0, 0, 0);
        try (ServedModel.Lease lease = served.lease()) {
            LoadedModel model = lease.model();
            Replies.requireText(model);
            for (int[] prompt : prompts(body, model)) {
                int first = all.size();
                String before = echo ? model.tokenizer().decode(prompt) : "";
                counts = counts.plus(replies.complete(
                        exchange, served, lease, new MediaPrompts.Encoded(prompt), format, settings, index -> {
                            TextChoice choice = new TextChoice(
                                    first + index, before, head, events, model.tokenizer(), logProbabilities >= 0);
                            all.add(choice);
                            return choice;
                        }));
            }
        }
        if (!stream) {
            ArrayNode array = head.putArray("choices");
            all.forEach(choice -> array.add(choice.whole()));
            head.set("usage", Wire.usage(counts));
            exchange.json(head);
            return;
        }
        if (usage) {
            ObjectNode last = head.deepCopy();
            last.putArray("choices");
            last.set("usage", Wire.usage(counts));
            events.send(last);
        }
        events.sendDone();
    }

    /// The prompts as tokens: a text, token ids, or an array of either.
    private static List<int[]> prompts(Body body, LoadedModel model) {
        body.require("prompt");
        JsonNode given = body.node().get("prompt");
        String suffix = body.text("suffix");
        List<int[]> prompts = new ArrayList<>();
        if (given.isTextual()
                || given.isArray() && !given.isEmpty() && given.get(0).isNumber()) {
            prompts.add(tokens(body, model, given, suffix));
        } else if (given.isArray() && !given.isEmpty() && given.size() <= MOST_PROMPTS) {
            given.forEach(each -> prompts.add(tokens(body, model, each, suffix)));
        } else {
            throw body.wrong("prompt", "a string, token ids, or at most " + MOST_PROMPTS + " of either");
        }
        return prompts;
    }

    private static int[] tokens(Body body, LoadedModel model, JsonNode prompt, String suffix) {
        if (prompt.isTextual()) {
            int[] tokens = suffix == null
                    ? PromptText.encode(model, prompt.asText(), true)
                    : InfillTokens.of(model).prompt(model, prompt.asText(), suffix);
            if (tokens.length == 0) {
                throw RequestException.invalid("prompt", "The prompt is empty; expected at least one token.");
            }
            return tokens;
        }
        if (!prompt.isArray() || prompt.isEmpty() || suffix != null) {
            throw body.wrong("prompt", "a string, or token ids without a suffix");
        }
        PromptText.requireRoom(prompt.size(), model.contextLength());
        int[] tokens = new int[prompt.size()];
        for (int i = 0; i < tokens.length; i++) {
            JsonNode id = prompt.get(i);
            if (!id.canConvertToInt()
                    || id.asInt() < 0
                    || id.asInt() >= model.config().vocabularySize()) {
                throw body.wrong(
                        "prompt", "token ids from 0 to " + (model.config().vocabularySize() - 1));
            }
            tokens[i] = id.asInt();
        }
        return tokens;
    }
}
