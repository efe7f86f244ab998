package dev.tenon.platform.server.ollama;

import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.KeepAliveField;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ServedModel;
import dev.tenon.platform.server.openai.Messages;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// `POST /api/chat`.
///
/// @param manager has the models
/// @param replies answers
public record ChatEndpoint(ModelManager manager, Replies replies) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
            "model messages(text, images) tools format options think stream keep_alive logprobs top_logprobs",
            "truncate shift",
            Map.of());

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = OllamaEndpoint.body(exchange, FIELDS);
        String name = body.requiredText("model");
        ServedModel served = manager.require(name);
        List<ChatTurn> messages = ChatMessages.read(body, exchange::ignores);
        Options options = Options.of(exchange, body);
        ReplySettings settings = options.settings(body);
        ChatRequest input = input(body, served, messages);
        Duration keepAlive = KeepAliveField.read(body);
        boolean stream = body.flag("stream", true);
        exchange.interruptWhenClientLeaves();
        OllamaReply reply = new OllamaReply(
                name, true, stream, settings.logProbabilities() >= 0, stream ? exchange.lines()::send : exchange::json);
        if (messages.isEmpty()) {
            reply.finish(loadOrUnload(manager, served, keepAlive));
            return;
        }
        manager.keepAlive(served, keepAlive);
        Replies.Counts counts;
        try (ServedModel.Lease lease = served.lease()) {
            reply.loaded();
            options.limitContext(exchange, lease.model());
            ChatPrompt prompt = replies.prompt(served, lease, input);
            counts = replies.answer(exchange, served, lease, input, prompt, settings, index -> reply);
        }
        reply.finish(counts, null);
    }

    /// Does what a request without a prompt asks for: it loads the model, or with the time 0 unloads it.
    ///
    /// @return the reason that ends its answer
    static String loadOrUnload(ModelManager manager, ServedModel served, Duration keepAlive)
            throws InterruptedException {
        String name = served.spec().name();
        if (keepAlive != null && keepAlive.isZero()) {
            manager.unload(name);
            return "unload";
        }
        manager.keepAlive(served, keepAlive);
        served.lease().close();
        return "load";
    }

    private ChatRequest input(Body body, ServedModel served, List<ChatTurn> messages) {
        ChatTurn last = messages.isEmpty() ? ChatTurn.user("") : messages.getLast();
        boolean continued = last.role().equals(ChatTurn.ASSISTANT)
                && last.calls().isEmpty()
                && !last.text().isBlank();
        TextFormat format = ReplyFields.format(body);
        if (continued && !(format instanceof TextFormat.Any)) {
            throw RequestException.invalid(
                    "format", "The last message is the assistant's, which goes on; it cannot have a format.");
        }
        return ChatRequest.builder()
                .turns(messages)
                .tools(Messages.tools(body))
                .format(format)
                .variables(ReplyFields.thinking(body, manager, served))
                .continued(continued)
                .build();
    }
}
