package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.platform.chat.ChatInput;
import dev.tenon.platform.chat.Enforced;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads a conversation of Anthropic's wire into the form that templates take.
final class MessagesInput {
    /// The fields of a request.
    static final FieldTable FIELDS = FieldTable.of(
            "model messages system max_tokens temperature top_p top_k stop_sequences stream tools tool_choice thinking"
                    + " output_config output_format thread",
            "metadata service_tier cache_control context_management compaction betas diagnostics inference_geo speed"
                    + " user_profile_id workspace_id billing_policy fallbacks fallback_credit_token",
            Map.of(
                    "container", "Nothing runs on the server's side.",
                    "mcp_servers", "The client calls tools."));

    private static final int MOST_MESSAGES = 4096;
    private static final int MOST_BLOCKS = 1024;
    private static final int MOST_TOOLS = 128;

    private MessagesInput() {}

    static ChatInput read(Body body) {
        Body thread = body.object("thread");
        if (thread != null && !thread.requiredText("type").equals("create")) {
            throw RequestException.notFound( // clients then send it all
                    "thread_not_found", "Nothing is kept: send the whole conversation as messages, without thread.");
        }
        body.require("messages");
        List<Map<String, Object>> messages = new ArrayList<>();
        if (body.has("system")) {
            String system = CallerHeader.removed(text(body, "system"));
            if (!system.isEmpty()) {
                messages.add(message("system", system));
            }
        }
        for (Body message : body.objects("messages", MOST_MESSAGES)) {
            add(messages, message);
        }
        if (messages.isEmpty()) {
            throw RequestException.invalid("messages", "messages is empty; expected at least one message.");
        }
        Map<String, Object> variables = OutputFields.variables(body);
        boolean continued = messages.getLast().get("role").equals("assistant");
        List<Map<String, Object>> tools = tools(body);
        Body choice = body.object("tool_choice");
        boolean called = choice != null && List.of("any", "tool").contains(choice.text("type"));
        if (called && (tools.isEmpty() || continued)) {
            throw RequestException.invalid("tool_choice", "A call needs tools, and a last message of the user.");
        }
        String name = called && choice.text("type").equals("tool") ? choice.requiredText("name") : null;
        Enforced format = OutputFields.format(body);
        if (!(format instanceof Enforced.Free) && (called || continued)) {
            throw RequestException.invalid(
                    "output_config", "A reply of a format can be neither a call nor the end of a message.");
        }
        Enforced enforced = called ? new Enforced.Calls(name, name == null) : format;
        return new ChatInput(messages, tools, variables, enforced, continued);
    }

    private static void add(List<Map<String, Object>> messages, Body message) {
        String role = message.requiredText("role");
        if (!List.of("system", "user", "assistant").contains(role)) {
            throw message.wrong("role", "system, user or assistant");
        }
        message.require("content");
        if (message.node().get("content").isTextual()) {
            messages.add(message(role, message.text("content")));
            return;
        }
        StringBuilder text = new StringBuilder();
        StringBuilder thoughts = new StringBuilder();
        List<Object> calls = new ArrayList<>();
        for (Body block : message.objects("content", MOST_BLOCKS)) {
            String type = block.requiredText("type");
            switch (type) {
                case "text" -> text.append(text.isEmpty() ? "" : "\n").append(block.requiredText("text"));
                case "thinking" -> thoughts.append(block.requiredText("thinking"));
                case "redacted_thinking" -> thoughts.append(""); // nothing of it can be read
                case "tool_use" -> calls.add(call(block));
                case "tool_result" -> {
                    Map<String, Object> result = message("tool", text(block, "content"));
                    result.put("tool_call_id", block.requiredText("tool_use_id"));
                    messages.add(result);
                }
                default ->
                    throw RequestException.tooMuch(
                            block.path() + "type",
                            "unsupported_parameter",
                            "Blocks of type '" + Exchange.printable(type) + "' are not supported.");
            }
        }
        if (!text.isEmpty() || !calls.isEmpty() || !thoughts.isEmpty()) {
            Map<String, Object> plain = message(role, text.toString());
            if (!thoughts.isEmpty()) {
                plain.put("reasoning_content", thoughts.toString());
            }
            if (!calls.isEmpty()) {
                plain.put("tool_calls", calls);
            }
            messages.add(plain);
        }
    }

    private static Map<String, Object> call(Body block) {
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", block.requiredText("name"));
        Body input = block.object("input");
        function.put("arguments", input == null ? Map.of() : Json.plain(input.node()));
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("id", block.requiredText("id"));
        call.put("type", "function");
        call.put("function", function);
        return call;
    }

    /// A text, or the texts of blocks.
    private static String text(Body body, String name) {
        if (!body.has(name) || body.node().get(name).isTextual()) {
            return body.has(name) ? body.text(name) : "";
        }
        List<String> texts = new ArrayList<>();
        for (Body block : body.objects(name, MOST_BLOCKS)) {
            if (!block.requiredText("type").equals("text")) {
                throw block.wrong("type", "text");
            }
            texts.add(block.requiredText("text"));
        }
        return String.join("\n", texts);
    }

    private static List<Map<String, Object>> tools(Body body) {
        List<Map<String, Object>> tools = new ArrayList<>();
        for (Body tool : body.objects("tools", MOST_TOOLS)) {
            if (tool.has("type") && !tool.text("type").equals("custom")) {
                throw RequestException.tooMuch(
                        tool.path() + "type",
                        "unsupported_parameter",
                        tool.path() + "type is '" + Exchange.printable(tool.text("type"))
                                + "', a tool that this server does not have; expected custom, with an input_schema.");
            }
            Body schema = tool.object("input_schema");
            Map<String, Object> function = new LinkedHashMap<>();
            function.put("name", tool.requiredText("name"));
            function.put("description", tool.has("description") ? tool.text("description") : "");
            function.put("parameters", schema == null ? Map.of("type", "object") : Json.plain(schema.node()));
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("type", "function");
            entry.put("function", function);
            tools.add(entry);
        }
        Body choice = body.object("tool_choice");
        String type = choice == null ? "auto" : choice.requiredText("type");
        if (!List.of("auto", "any", "tool", "none").contains(type)) {
            throw choice.wrong("type", "auto, any, tool or none");
        }
        if (type.equals("none")) {
            return List.of();
        }
        JsonNode single = choice == null ? null : choice.node().get("disable_parallel_tool_use");
        if (single != null && single.asBoolean()) {
            throw RequestException.tooMuch(
                    "tool_choice.disable_parallel_tool_use",
                    "unsupported_parameter",
                    "Calls come as the model makes them.");
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
