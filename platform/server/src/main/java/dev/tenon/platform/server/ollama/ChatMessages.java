package dev.tenon.platform.server.ollama;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.media.MediaReader;
import dev.tenon.platform.server.media.TurnText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// Reads messages of Ollama's wire into the form that templates take.
final class ChatMessages {
    private static final int MOST_MESSAGES = 4096;
    private static final int MOST_CALLS = 128;
    private static final int MOST_IMAGES = 256;
    private static final String CONTENT = "content";
    private static final List<String> ROLES = List.of("system", "user", "assistant", "tool");
    private static final FieldTable FIELDS =
            FieldTable.of("role content thinking tool_calls tool_name tool_call_id images", "", Map.of());

    private ChatMessages() {}

    /// {@return the messages of a request; none where it has none}
    ///
    /// @param body the request
    /// @param ignored hears of fields that change nothing
    static List<ChatTurn> read(Body body, Consumer<List<String>> ignored) {
        List<ChatTurn> messages = new ArrayList<>();
        for (Body message : body.objects("messages", MOST_MESSAGES)) {
            ignored.accept(FIELDS.unknown(message.node()).stream()
                    .map(name -> message.path() + name)
                    .toList());
            messages.add(message(message));
        }
        return messages;
    }

    /// {@return a text with the images of a request or message before it}
    ///
    /// @param body the request or message
    /// @param text the text
    static TurnText withImages(Body body, String text) {
        TurnText content = new TurnText();
        List<String> images = body.texts("images", MOST_IMAGES);
        for (int i = 0; i < images.size(); i++) {
            content.add(MediaReader.base64(body.path() + "images[" + i + "]", "", images.get(i)));
        }
        content.add(text, "");
        return content;
    }

    private static ChatTurn message(Body body) {
        String role = body.requiredText("role");
        if (!ROLES.contains(role)) {
            throw body.wrong("role", "system, user, assistant or tool");
        }
        List<ToolCall> calls = new ArrayList<>();
        for (Body call : body.objects("tool_calls", MOST_CALLS)) {
            calls.add(call(call));
        }
        TurnText content = withImages(body, body.has(CONTENT) ? body.text(CONTENT) : "");
        return new ChatTurn(
                role,
                content.text(),
                body.text("thinking"),
                calls,
                body.text("tool_call_id"),
                body.text("tool_name"),
                content.media());
    }

    private static ToolCall call(Body call) {
        Body function = call.object("function");
        if (function == null) {
            throw call.wrong("function", "an object");
        }
        Body arguments = function.object("arguments");
        return new ToolCall(
                call.has("id") ? call.text("id") : "",
                function.requiredText("name"),
                arguments == null ? "{}" : Json.text(arguments.node()));
    }
}
