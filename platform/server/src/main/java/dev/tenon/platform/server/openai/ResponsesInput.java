package dev.tenon.platform.server.openai;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.MediaReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads the items of responses into the form that templates take.
final class ResponsesInput {
    /// The fields of a request.
    static final FieldTable FIELDS = FieldTable.of(
            "model input instructions max_output_tokens temperature top_p stream tools tool_choice parallel_tool_calls"
                    + " reasoning(effort) text(format) top_logprobs(0) background(false)",
            "user safety_identifier prompt_cache_key prompt_cache_retention metadata client_metadata store service_tier"
                    + " include truncation stream_options",
            Map.of(
                    "previous_response_id", "Nothing is kept: send the whole conversation as input.",
                    "conversation", "Nothing is kept: send the whole conversation as input.",
                    "prompt", "Send the text as input.",
                    "max_tool_calls", "The client calls tools."));

    private static final int MOST_ITEMS = 4096;
    private static final int MOST_PARTS = 256;

    private ResponsesInput() {}

    static ChatRequest read(Body body, MediaReader media) {
        requirePlain(body);
        List<ChatTurn> messages = new ArrayList<>();
        if (body.has("instructions")) {
            messages.add(ChatTurn.system(body.text("instructions")));
        }
        body.require("input");
        if (body.node().get("input").isTextual()) {
            messages.add(ChatTurn.user(body.text("input")));
        } else {
            body.objects("input", MOST_ITEMS).forEach(item -> add(messages, item, media));
        }
        Map<String, Object> variables = new LinkedHashMap<>();
        Body reasoning = body.object("reasoning");
        if (reasoning != null && reasoning.has("effort")) {
            String effort = reasoning.text("effort");
            variables.put("reasoning_effort", effort);
            variables.put("enable_thinking", !effort.equals("none"));
        }
        List<Tool> tools = EnforcedFields.callable(body, tools(body));
        Body text = body.object("text");
        Body format = text == null ? null : text.object("format");
        TextFormat answer = format == null ? TextFormat.any() : EnforcedFields.format(format, "text.format", "");
        return ChatRequest.builder()
                .turns(messages)
                .tools(tools)
                .toolChoice(EnforcedFields.calls(body, tools, answer))
                .severalCalls(body.flag("parallel_tool_calls", true))
                .format(answer)
                .variables(variables)
                .build();
    }

    private static void requirePlain(Body body) {
        if (body.flag("background", false)) {
            throw RequestException.tooMuch("background", "unsupported_parameter", "Nothing runs in the background.");
        }
        if (body.whole("top_logprobs", 0, 20, 0) != 0) {
            throw RequestException.tooMuch(
                    "top_logprobs", "unsupported_parameter", "Log-probabilities come from chat/completions.");
        }
    }

    private static void add(List<ChatTurn> messages, Body item, MediaReader media) {
        String type = item.has("type") ? item.text("type") : "message";
        switch (type) {
            case "message" -> {
                String role = item.requiredText("role");
                if (!List.of("system", "developer", "user", "assistant").contains(role)) {
                    throw item.wrong("role", "system, developer, user or assistant");
                }
                messages.add(Messages.content(item, "content", role, media)
                        .turn(role.equals("developer") ? ChatTurn.SYSTEM : role, null));
            }
            case "function_call" -> {
                ToolCall call = new ToolCall(
                        item.requiredText("call_id"), item.requiredText("name"), item.requiredText("arguments"));
                called(messages, call);
            }
            case "function_call_output" -> {
                String id = item.requiredText("call_id");
                item.require("output");
                messages.add(
                        Messages.content(item, "output", ChatTurn.TOOL, media).turn(ChatTurn.TOOL, id));
            }
            case "reasoning" -> item.objects("content", MOST_PARTS); // templates take it from the turn itself
            default ->
                throw RequestException.tooMuch(
                        item.path() + "type",
                        "unsupported_parameter",
                        "Items of type '" + Exchange.printable(type) + "' are not supported.");
        }
    }

    /// Adds a call to the last message, or to a new one where that is not the assistant's.
    private static void called(List<ChatTurn> messages, ToolCall call) {
        boolean own = !messages.isEmpty() && messages.getLast().role().equals(ChatTurn.ASSISTANT);
        ChatTurn last = own ? messages.removeLast() : ChatTurn.assistant("");
        List<ToolCall> calls = new ArrayList<>(last.calls());
        calls.add(call);
        messages.add(new ChatTurn(
                last.role(), last.text(), last.reasoning(), calls, last.callId(), last.name(), last.media()));
    }

    private static List<Tool> tools(Body body) {
        List<Tool> tools = new ArrayList<>();
        for (Body tool : body.objects("tools", Messages.MOST_TOOLS)) {
            if (!tool.requiredText("type").equals("function")) {
                throw RequestException.tooMuch(
                        tool.path() + "type", "unsupported_parameter", "Tools are of type function.");
            }
            tools.add(Messages.tool(tool.requiredText("name"), tool.text("description"), tool.object("parameters")));
        }
        return tools;
    }
}
