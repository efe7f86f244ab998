package dev.tenon.platform.server.anthropic;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.MediaReader;
import dev.tenon.platform.server.media.TurnText;
import dev.tenon.platform.server.openai.Messages;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Reads a conversation of Anthropic's wire into the form that templates take.
final class MessagesInput {
    /// The fields of a request.
    static final FieldTable FIELDS = FieldTable.of(
            "model messages system max_tokens temperature top_p top_k stop_sequences stream tools tool_choice thinking(on or"
                    + " off, budget_tokens) output_config(effort, format) output_format thread(a new one)",
            "metadata service_tier cache_control context_management compaction betas diagnostics inference_geo speed"
                    + " user_profile_id workspace_id billing_policy fallbacks fallback_credit_token",
            Map.of(
                    "container", "Nothing runs on the server's side.",
                    "mcp_servers", "The client calls tools."));

    private static final int MOST_MESSAGES = 4096;
    private static final int MOST_BLOCKS = 1024;
    private static final int MOST_TOOLS = 128;

    private MessagesInput() {}

    static ChatRequest read(Body body, MediaReader media) {
        Body thread = body.object("thread");
        if (thread != null && !thread.requiredText("type").equals("create")) {
            throw RequestException.notFound( // clients then send it all
                    "thread_not_found", "Nothing is kept: send the whole conversation as messages, without thread.");
        }
        body.require("messages");
        List<ChatTurn> messages = new ArrayList<>();
        if (body.has("system")) {
            ChatTurn system = content(body, "system", null).turn(ChatTurn.SYSTEM, null);
            if (!system.text().isEmpty()) {
                messages.add(system);
            }
        }
        for (Body message : body.objects("messages", MOST_MESSAGES)) {
            add(messages, message, media);
        }
        if (messages.isEmpty()) {
            throw RequestException.invalid("messages", "messages is empty; expected at least one message.");
        }
        ChatTurn last = messages.getLast();
        boolean continued =
                last.role().equals(ChatTurn.ASSISTANT) && last.calls().isEmpty();
        List<Tool> tools = tools(body);
        Body choice = body.object("tool_choice");
        ToolChoice calls = choice == null ? ToolChoice.AUTO : choice(choice);
        if (calls.mode() == ToolChoice.Mode.REQUIRED && (tools.isEmpty() || continued)) {
            throw RequestException.invalid("tool_choice", "A call needs tools, and a last message of the user.");
        }
        TextFormat format = OutputFields.format(body);
        boolean free = format instanceof TextFormat.Any;
        if (!free && (calls.mode() == ToolChoice.Mode.REQUIRED || continued)) {
            throw RequestException.invalid(
                    "output_config", "A reply of a format can be neither a call nor the end of a message.");
        }
        return ChatRequest.builder()
                .turns(messages)
                .tools(tools)
                .toolChoice(calls)
                .severalCalls(choice == null || !choice.flag("disable_parallel_tool_use", false))
                .format(format)
                .variables(OutputFields.variables(body))
                .reasoningBudget(OutputFields.budget(body))
                .continued(continued)
                .build();
    }

    private static ToolChoice choice(Body choice) {
        return switch (choice.requiredText("type")) {
            case "auto" -> ToolChoice.AUTO;
            case "any" -> ToolChoice.REQUIRED;
            case "tool" -> ToolChoice.named(choice.requiredText("name"));
            case "none" -> ToolChoice.NONE;
            default -> throw choice.wrong("type", "auto, any, tool or none");
        };
    }

    private static void add(List<ChatTurn> messages, Body message, MediaReader media) {
        String role = message.requiredText("role");
        if (!List.of("system", "user", "assistant").contains(role)) {
            throw message.wrong("role", "system, user or assistant");
        }
        message.require("content");
        if (message.node().get("content").isTextual()) {
            add(messages, ChatTurn.of(role, message.text("content")));
            return;
        }
        boolean own = role.equals(ChatTurn.ASSISTANT); // its blocks were written in one go
        TurnText text = new TurnText();
        StringBuilder thoughts = new StringBuilder();
        List<ToolCall> calls = new ArrayList<>();
        for (Body block : message.objects("content", MOST_BLOCKS)) {
            String type = block.requiredText("type");
            switch (type) {
                case "text" -> text.add(block.requiredText("text"), own ? "" : "\n");
                case "thinking" -> thoughts.append(block.requiredText("thinking"));
                case "redacted_thinking" -> thoughts.append(""); // nothing of it can be read
                case "tool_use" -> calls.add(call(block));
                case "tool_result" -> {
                    String id = block.requiredText("tool_use_id");
                    messages.add(content(block, "content", media).turn(ChatTurn.TOOL, id));
                }
                case "image" -> {
                    if (own) {
                        throw block.wrong("type", "text, thinking or tool_use, as the message is the assistant's");
                    }
                    text.add(image(block, media));
                }
                default ->
                    throw RequestException.tooMuch(
                            block.path() + "type",
                            "unsupported_parameter",
                            "Blocks of type '" + Exchange.printable(type) + "' are not supported.");
            }
        }
        if (!text.text().isEmpty() || !calls.isEmpty() || !thoughts.isEmpty()) {
            String thought = thoughts.isEmpty() ? null : thoughts.toString();
            add(messages, new ChatTurn(role, text.text(), thought, calls, null, null, text.media()));
        }
    }

    /// Adds a turn; two of the assistant's after each other are one, as this wire says.
    private static void add(List<ChatTurn> messages, ChatTurn turn) {
        ChatTurn last = messages.isEmpty() ? turn : messages.getLast();
        if (messages.isEmpty()
                || !turn.role().equals(ChatTurn.ASSISTANT)
                || !last.role().equals(turn.role())) {
            messages.add(turn);
            return;
        }
        messages.removeLast();
        List<ToolCall> calls = new ArrayList<>(last.calls());
        calls.addAll(turn.calls());
        String reasoning = last.reasoning() == null || turn.reasoning() == null
                ? (last.reasoning() == null ? turn.reasoning() : last.reasoning())
                : last.reasoning() + turn.reasoning();
        messages.add(new ChatTurn(turn.role(), last.text() + turn.text(), reasoning, calls, null, null, List.of()));
    }

    private static ToolCall call(Body block) {
        Body input = block.object("input");
        return new ToolCall(
                block.requiredText("id"), block.requiredText("name"), input == null ? "{}" : Json.text(input.node()));
    }

    /// A text, or blocks of text and images.
    ///
    /// @param media reads images; null where there are none
    private static TurnText content(Body body, String name, MediaReader media) {
        TurnText content = new TurnText();
        if (!body.has(name) || body.node().get(name).isTextual()) {
            content.add(body.has(name) ? body.text(name) : "", "");
            return content;
        }
        for (Body block : body.objects(name, MOST_BLOCKS)) {
            String type = block.requiredText("type");
            if (type.equals("text")) {
                content.add(block.requiredText("text"), "\n");
            } else if (type.equals("image") && media != null) {
                content.add(image(block, media));
            } else {
                throw block.wrong("type", media == null ? "text" : "text or image");
            }
        }
        return content;
    }

    private static MediaPart image(Body block, MediaReader media) {
        block.require("source");
        Body source = block.object("source");
        return switch (source.requiredText("type")) {
            case "base64" ->
                MediaReader.base64(
                        source.path() + "data", source.requiredText("media_type"), source.requiredText("data"));
            case "url" -> media.url(source.path() + "url", source.requiredText("url"));
            default -> throw source.wrong("type", "base64 or url");
        };
    }

    private static List<Tool> tools(Body body) {
        List<Tool> tools = new ArrayList<>();
        for (Body tool : body.objects("tools", MOST_TOOLS)) {
            if (tool.has("type") && !tool.text("type").equals("custom")) {
                throw RequestException.tooMuch(
                        tool.path() + "type",
                        "unsupported_parameter",
                        tool.path() + "type is '" + Exchange.printable(tool.text("type"))
                                + "', a tool that this server does not have; expected custom, with an input_schema.");
            }
            tools.add(new Tool(
                    tool.requiredText("name"),
                    tool.has("description") ? tool.text("description") : "",
                    Messages.schema(tool.object("input_schema"))));
        }
        return tools;
    }
}
