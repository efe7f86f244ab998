package dev.tenon.platform.server.openai;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.MediaReader;
import dev.tenon.platform.server.media.TurnText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Reads the messages and tools of chat/completions into the form that templates take.
public final class Messages {
    static final int MOST_TOOLS = 128;

    private static final int MOST_MESSAGES = 4096;
    private static final int MOST_CALLS = 128;
    private static final int MOST_PARTS = 256;
    private static final Set<String> ROLES = Set.of("system", "user", "assistant", "tool");
    private static final FieldTable FIELDS = FieldTable.of(
            "role content name tool_calls tool_call_id reasoning_content reasoning",
            "refusal annotations prefix",
            Map.of("function_call", "Use tool_calls.", "audio", "There is no audio."));

    private Messages() {}

    /// {@return the messages}
    ///
    /// @param body the request
    /// @param media reads their pictures and sounds
    public static List<ChatTurn> read(Body body, MediaReader media) {
        body.require("messages");
        List<ChatTurn> messages = new ArrayList<>();
        for (Body message : body.objects("messages", MOST_MESSAGES)) {
            messages.add(message(message, media));
        }
        if (messages.isEmpty()) {
            throw RequestException.invalid("messages", "messages is empty; expected at least one message.");
        }
        return messages;
    }

    private static ChatTurn message(Body body, MediaReader media) {
        FIELDS.check(body.node());
        String role = body.requiredText("role");
        role = role.equals("developer") ? ChatTurn.SYSTEM : role;
        if (!ROLES.contains(role)) {
            throw RequestException.invalid(
                    body.path() + "role",
                    "There is no role '" + Exchange.printable(role)
                            + "'; expected system, developer, user, assistant or tool.");
        }
        List<ToolCall> calls = new ArrayList<>();
        for (Body call : body.objects("tool_calls", MOST_CALLS)) {
            calls.add(call(call));
        }
        if (!body.has("content") && calls.isEmpty()) {
            body.require("content");
        }
        String reasoning = body.has("reasoning_content") ? "reasoning_content" : "reasoning";
        TurnText content = content(body, "content", role, media);
        return new ChatTurn(
                role,
                content.text(),
                body.text(reasoning),
                calls,
                body.text("tool_call_id"),
                body.text("name"),
                content.media());
    }

    /// A text, or the parts of one: texts of an assistant, who wrote them in one go, follow each other as they are.
    static TurnText content(Body body, String field, String role, MediaReader media) {
        TurnText content = new TurnText();
        if (!body.has(field) || body.node().get(field).isTextual()) {
            content.add(body.has(field) ? body.text(field) : "", "");
            return content;
        }
        for (Body part : body.objects(field, MOST_PARTS)) {
            String type = part.requiredText("type");
            switch (type) {
                case "text", "input_text", "output_text" ->
                    content.add(part.requiredText("text"), role.equals(ChatTurn.ASSISTANT) ? "" : "\n");
                case "image_url", "input_image" -> content.add(image(part, media));
                case "input_audio" -> content.add(audio(part));
                default ->
                    throw RequestException.tooMuch(
                            part.path() + "type",
                            "unsupported_parameter",
                            "Parts of type '" + Exchange.printable(type)
                                    + "' are not supported; expected a text, an image or audio.");
            }
        }
        return content;
    }

    private static MediaPart image(Body part, MediaReader media) {
        String field = "image_url";
        part.require(field);
        if (part.node().get(field).isTextual()) {
            return media.url(part.path() + field, part.text(field));
        }
        Body image = part.object(field);
        return media.url(image.path() + "url", image.requiredText("url"));
    }

    private static MediaPart audio(Body part) {
        part.require("input_audio");
        Body audio = part.object("input_audio");
        return MediaReader.base64(
                audio.path() + "data", "audio/" + audio.requiredText("format"), audio.requiredText("data"));
    }

    private static ToolCall call(Body call) {
        Body function = call.object("function");
        if (function == null) {
            throw call.wrong("function", "an object");
        }
        return new ToolCall(
                call.has("id") ? call.text("id") : "",
                function.requiredText("name"),
                function.has("arguments") ? function.text("arguments") : "{}");
    }

    /// {@return the tools}
    ///
    /// @param body the request
    public static List<Tool> tools(Body body) {
        List<Tool> tools = new ArrayList<>();
        for (Body tool : body.objects("tools", MOST_TOOLS)) {
            String type = tool.requiredText("type");
            Body function = tool.object("function");
            if (!type.equals("function") || function == null) {
                throw RequestException.tooMuch(
                        tool.path() + "type", "unsupported_parameter", "Tools are of type function, with a function.");
            }
            tools.add(tool(function.requiredText("name"), function.text("description"), function.object("parameters")));
        }
        return tools;
    }

    /// {@return a tool}
    ///
    /// @param name its name
    /// @param description what it is for, or null
    /// @param parameters schema of its arguments, or null
    static Tool tool(String name, String description, Body parameters) {
        if (!name.matches("[A-Za-z0-9_.-]{1,64}")) {
            throw RequestException.invalid(
                    "tools",
                    "'" + Exchange.printable(name) + "' is no name of a tool; expected letters, digits, _ and -.");
        }
        return new Tool(name, description == null ? "" : description, schema(parameters));
    }

    /// {@return a schema as templates take it; null for none}
    ///
    /// @param parameters the schema, or null
    @SuppressWarnings("unchecked") // JSON
    public static Map<String, Object> schema(Body parameters) {
        return parameters == null ? null : (Map<String, Object>) Json.plain(parameters.node());
    }
}
