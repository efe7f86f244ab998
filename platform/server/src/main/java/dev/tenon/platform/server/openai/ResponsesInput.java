package dev.tenon.platform.server.openai;

import dev.tenon.platform.chat.ChatInput;
import dev.tenon.platform.chat.Enforced;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads the items of responses into the form that templates take.
final class ResponsesInput {
    /// The fields of a request.
    static final FieldTable FIELDS = FieldTable.of(
            "model input instructions max_output_tokens temperature top_p stream tools tool_choice parallel_tool_calls"
                    + " reasoning text top_logprobs background",
            "user safety_identifier prompt_cache_key prompt_cache_retention metadata store service_tier include"
                    + " truncation stream_options",
            Map.of(
                    "previous_response_id", "Nothing is kept: send the whole conversation as input.",
                    "conversation", "Nothing is kept: send the whole conversation as input.",
                    "prompt", "Send the text as input.",
                    "max_tool_calls", "The client calls tools."));

    private static final int MOST_ITEMS = 4096;
    private static final int MOST_PARTS = 256;

    private ResponsesInput() {}

    static ChatInput read(Body body) {
        requirePlain(body);
        List<Map<String, Object>> messages = new ArrayList<>();
        if (body.has("instructions")) {
            messages.add(message("system", body.text("instructions")));
        }
        body.require("input");
        if (body.node().get("input").isTextual()) {
            messages.add(message("user", body.text("input")));
        } else {
            body.objects("input", MOST_ITEMS).forEach(item -> add(messages, item));
        }
        Map<String, Object> variables = new LinkedHashMap<>();
        Body reasoning = body.object("reasoning");
        if (reasoning != null && reasoning.has("effort")) {
            String effort = reasoning.text("effort");
            variables.put("reasoning_effort", effort);
            variables.put("enable_thinking", !effort.equals("none"));
        }
        List<Map<String, Object>> tools = tools(body);
        Body text = body.object("text");
        Body format = text == null ? null : text.object("format");
        Enforced enforced = format == null ? Enforced.nothing() : EnforcedFields.format(format, "text.format", "");
        return new ChatInput(
                messages,
                EnforcedFields.callable(body, tools),
                variables,
                EnforcedFields.calls(body, tools, enforced),
                false);
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

    private static void add(List<Map<String, Object>> messages, Body item) {
        String type = item.has("type") ? item.text("type") : "message";
        switch (type) {
            case "message" -> {
                String role = item.requiredText("role");
                if (!List.of("system", "developer", "user", "assistant").contains(role)) {
                    throw item.wrong("role", "system, developer, user or assistant");
                }
                messages.add(message(role.equals("developer") ? "system" : role, Messages.content(item)));
            }
            case "function_call" -> {
                Map<String, Object> function = new LinkedHashMap<>();
                function.put("name", item.requiredText("name"));
                function.put("arguments", Messages.arguments(item.requiredText("arguments")));
                Map<String, Object> call = new LinkedHashMap<>();
                call.put("id", item.requiredText("call_id"));
                call.put("type", "function");
                call.put("function", function);
                calls(messages).add(call);
            }
            case "function_call_output" -> {
                Map<String, Object> result = message("tool", output(item));
                result.put("tool_call_id", item.requiredText("call_id"));
                messages.add(result);
            }
            case "reasoning" -> item.objects("content", MOST_PARTS); // templates take it from the turn itself
            default ->
                throw RequestException.tooMuch(
                        item.path() + "type",
                        "unsupported_parameter",
                        "Items of type '" + Exchange.printable(type) + "' are not supported.");
        }
    }

    private static String output(Body item) {
        item.require("output");
        if (item.node().get("output").isTextual()) {
            return item.text("output");
        }
        List<String> texts = new ArrayList<>();
        for (Body part : item.objects("output", MOST_PARTS)) {
            if (!part.requiredText("type").equals("input_text")) {
                throw part.wrong("type", "input_text");
            }
            texts.add(part.requiredText("text"));
        }
        return String.join("\n", texts);
    }

    /// The calls of the last message, which becomes the assistant's if it is not.
    @SuppressWarnings("unchecked")
    private static List<Object> calls(List<Map<String, Object>> messages) {
        if (messages.isEmpty() || !messages.getLast().get("role").equals("assistant")) {
            messages.add(message("assistant", ""));
        }
        return (List<Object>) messages.getLast().computeIfAbsent("tool_calls", key -> new ArrayList<>());
    }

    private static List<Map<String, Object>> tools(Body body) {
        List<Map<String, Object>> tools = new ArrayList<>();
        for (Body tool : body.objects("tools", Messages.MOST_TOOLS)) {
            if (!tool.requiredText("type").equals("function")) {
                throw RequestException.tooMuch(
                        tool.path() + "type", "unsupported_parameter", "Tools are of type function.");
            }
            tools.add(Messages.tool(tool.requiredText("name"), tool.text("description"), tool.object("parameters")));
        }
        return tools;
    }

    private static Map<String, Object> message(String role, String content) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }
}
