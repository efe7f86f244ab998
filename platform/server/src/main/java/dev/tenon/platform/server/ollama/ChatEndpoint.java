package dev.tenon.platform.server.ollama;

import dev.tenon.platform.chat.ChatInput;
import dev.tenon.platform.chat.ChatPrompt;
import dev.tenon.platform.chat.Enforced;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.KeepAliveField;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
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
            "model messages tools format options think stream keep_alive logprobs top_logprobs",
            "truncate shift",
            Map.of());

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        String name = body.requiredText("model");
        ServedModel served = manager.require(name);
        List<Map<String, Object>> messages = ChatMessages.read(body);
        Options options = Options.of(body);
        ReplySettings settings = options.settings(body);
        ChatInput input = input(body, served, messages);
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
            options.requireContext(lease.model());
            ChatPrompt prompt = Replies.prompt(served, lease.model(), input);
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

    private ChatInput input(Body body, ServedModel served, List<Map<String, Object>> messages) {
        Map<String, Object> last = messages.isEmpty() ? Map.of() : messages.getLast();
        boolean continued = "assistant".equals(last.get("role"))
                && !last.containsKey("tool_calls")
                && !last.get("content").toString().isBlank();
        Enforced enforced = ReplyFields.format(body);
        if (continued && !(enforced instanceof Enforced.Free)) {
            throw RequestException.invalid(
                    "format", "The last message is the assistant's, which goes on; it cannot have a format.");
        }
        return new ChatInput(
                messages, Messages.tools(body), ReplyFields.thinking(body, manager, served), enforced, continued);
    }
}
