package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.chat.PromptText;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.KeepAliveField;
import dev.tenon.platform.server.generation.InfillTokens;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.TurnText;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ServedModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// `POST /api/generate`: answers a prompt; one that is raw, has a suffix, or is for a model without a chat template is
/// continued.
///
/// @param manager has the models
/// @param replies answers and continues
public record GenerateEndpoint(ModelManager manager, Replies replies) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
            "model prompt suffix system raw images format options context think stream keep_alive logprobs"
                    + " top_logprobs",
            "truncate shift",
            Map.of(
                    "template", "The model's own template is used; raw leaves it out.",
                    "width", "No images are made.",
                    "height", "No images are made.",
                    "steps", "No images are made."));

    private static final int MOST_CONTEXT = 1 << 24;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = OllamaEndpoint.body(exchange, FIELDS);
        String name = body.requiredText("model");
        ServedModel served = manager.require(name);
        TurnText prompt = ChatMessages.withImages(body, body.has("prompt") ? body.text("prompt") : "");
        Options options = Options.of(exchange, body);
        ReplySettings settings = options.settings(body);
        TextFormat format = ReplyFields.format(body);
        ChatRequest input = ChatRequest.builder()
                .turns(messages(body, prompt))
                .format(format)
                .variables(ReplyFields.thinking(body, manager, served))
                .build();
        requireConsistent(body);
        Duration keepAlive = KeepAliveField.read(body);
        boolean stream = body.flag("stream", true);
        exchange.interruptWhenClientLeaves();
        OllamaReply reply = new OllamaReply(
                name,
                false,
                stream,
                settings.logProbabilities() >= 0,
                stream ? exchange.lines()::send : exchange::json);
        if (prompt.text().isEmpty() && !body.has("suffix")) {
            reply.finish(ChatEndpoint.loadOrUnload(manager, served, keepAlive));
            return;
        }
        manager.keepAlive(served, keepAlive);
        Replies.Counts counts;
        ArrayNode context = null;
        try (ServedModel.Lease lease = served.lease()) {
            reply.loaded();
            LoadedModel model = lease.model();
            Replies.requireText(model);
            options.limitContext(exchange, model);
            MediaPrompts.Encoded plain = plain(body, model, prompt);
            if (plain != null) {
                counts = replies.complete(exchange, served, lease, plain, format, settings, index -> reply);
            } else {
                ChatPrompt whole = after(body, model, replies.prompt(served, lease, input));
                counts = replies.answer(exchange, served, lease, input, whole, settings, index -> reply);
                context = whole.media().isEmpty() ? context(model, whole.tokens(), reply.answer()) : null;
            }
        }
        reply.finish(counts, context);
    }

    private static void requireConsistent(Body body) {
        boolean raw = body.flag("raw", false);
        for (String field : List.of("system", "context")) {
            if (body.has(field) && (raw || body.has("suffix"))) {
                throw RequestException.invalid(
                        field, field + " needs the model's template, which a raw prompt or one with a suffix has not.");
            }
        }
    }

    private static List<ChatTurn> messages(Body body, TurnText prompt) {
        List<ChatTurn> messages = new ArrayList<>();
        if (body.has("system") && !body.text("system").isEmpty()) {
            messages.add(ChatTurn.system(body.text("system")));
        }
        messages.add(prompt.turn(ChatTurn.USER, null));
        return messages;
    }

    /// A prompt that is continued; null for one that is answered.
    private static MediaPrompts.Encoded plain(Body body, LoadedModel model, TurnText prompt) {
        if (body.has("suffix")) {
            if (!prompt.media().isEmpty()) {
                throw RequestException.invalid("images", "A prompt with a suffix takes no images.");
            }
            return new MediaPrompts.Encoded(InfillTokens.of(model).prompt(model, prompt.text(), body.text("suffix")));
        }
        boolean raw = body.flag("raw", false);
        if (!raw && model.chatTemplate().isPresent()) {
            return null;
        }
        if (!raw && (body.has("system") || body.has("context"))) {
            throw RequestException.invalid(
                    "system", "The model has no chat template, and takes neither system nor context.");
        }
        return prompt.encode(model, "prompt");
    }

    /// A prompt after the tokens of `context`.
    private static ChatPrompt after(Body body, LoadedModel model, ChatPrompt prompt) {
        ArrayNode context = body.array("context", MOST_CONTEXT);
        if (context.isEmpty()) {
            return prompt;
        }
        IntStream.Builder all = IntStream.builder();
        for (JsonNode id : context) {
            boolean fits = id.canConvertToInt() && id.asInt() >= 0;
            if (!fits || id.asInt() >= model.config().vocabularySize()) {
                throw body.wrong("context", "token ids of the model");
            }
            all.add(id.asInt());
        }
        int[] next = prompt.tokens();
        Tokenizer tokenizer = model.tokenizer();
        boolean bos = next.length > 0 && tokenizer.bos().orElse(-1) == next[0];
        IntStream.of(next).skip(bos ? 1 : 0).forEach(all::add);
        int[] tokens = all.build().toArray();
        PromptText.requireRoom(tokens.length, model.contextLength());
        return new ChatPrompt(prompt.text(), prompt.borders(), tokens, prompt.media());
    }

    /// The tokens of a prompt and its reply. The reply's are those of its text: what the model thought is left out.
    private static ArrayNode context(LoadedModel model, int[] prompt, String reply) {
        ArrayNode context = Json.array();
        IntStream.of(prompt).forEach(context::add);
        IntStream.of(model.tokenizer().encode(reply, false, false)).forEach(context::add);
        model.tokenizer().eos().ifPresent(context::add);
        return context;
    }
}
