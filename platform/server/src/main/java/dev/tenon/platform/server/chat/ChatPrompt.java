package dev.tenon.platform.server.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.server.http.Json;
import dev.tenon.platform.server.http.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/// A conversation as one prompt.
///
/// @param text what the template wrote
/// @param tokens its tokens
public record ChatPrompt(String text, int[] tokens) {
    private static final String INSTRUCTIONS = """
            You may call one or more functions to help with the user's query. These are their signatures:
            <tools>
            %s
            </tools>
            For each call write a JSON object with the function's name and arguments within XML tags:
            <tool_call>
            {"name": NAME, "arguments": ARGUMENTS}
            </tool_call>""";

    /// Renders and encodes a conversation.
    ///
    /// @param model has template and vocabulary
    /// @param format how it writes calls of tools
    /// @param input the conversation
    /// @return the prompt
    /// @throws RequestException (400) if the model has no template
    public static ChatPrompt of(LoadedModel model, ReplyFormat format, ChatInput input) {
        ChatTemplate template = model.chatTemplate()
                .orElseThrow(() -> RequestException.unsupported(
                        "messages",
                        "The model has no chat template and does not chat. Use /v1/completions with a prompt."));
        Tokenizer tokenizer = model.tokenizer();
        String source = model.file().metadata().string(ReplyFormat.TEMPLATE).orElse("");
        UserText user = new UserText(tokenizer, source, input.messages(), input.tools(), input.variables());
        Map<String, Object> variables = new LinkedHashMap<>();
        input.variables().forEach((name, value) -> variables.put(name, user.mark(value)));
        List<Map<String, Object>> messages = marked(user, input.messages());
        List<Map<String, Object>> tools = marked(user, input.tools());
        if (!format.takesTools()) {
            messages = plain(messages, tools);
        } else if (!tools.isEmpty()) {
            variables.put("tools", tools);
        }
        String bos = piece(tokenizer, tokenizer.bos());
        variables.put("bos_token", bos);
        variables.put("eos_token", piece(tokenizer, tokenizer.eos()));
        variables.put("add_generation_prompt", !input.continued());
        variables.put("messages", messages);
        String text = template.render(variables);
        if (input.continued()) {
            text = open(text, String.valueOf(messages.getLast().get("content")));
        }
        boolean written = !bos.isEmpty() && text.startsWith(bos);
        UserText.Plain plain = user.plain(text);
        int[] tokens = PromptText.encode(model, plain.text(), tokenizer.addsBos() && !written, plain.borders());
        return new ChatPrompt(plain.text(), tokens);
    }

    @SuppressWarnings("unchecked") // marking keeps lists and maps as they are
    private static List<Map<String, Object>> marked(UserText user, List<Map<String, Object>> values) {
        return (List<Map<String, Object>>) user.mark(values);
    }

    /// Cuts off what the template wrote after the last message, so that it goes on.
    private static String open(String text, String last) {
        String content = last.strip();
        int at = text.lastIndexOf(content);
        if (content.isEmpty() || at < 0) {
            throw RequestException.invalid(
                    "continue_final_message",
                    "The last message is empty, or the template changes it; it cannot go on.");
        }
        return text.substring(0, at + content.length());
    }

    /// Writes tools, calls and their results as text, for a template that knows none of them.
    private static List<Map<String, Object>> plain(
            List<Map<String, Object>> messages, List<Map<String, Object>> tools) {
        List<Map<String, Object>> all = new ArrayList<>();
        if (!tools.isEmpty()) {
            String lines = String.join("\n", tools.stream().map(Json::text).toList());
            all.add(message("system", INSTRUCTIONS.formatted(lines)));
        }
        for (Map<String, Object> message : messages) {
            String role = String.valueOf(message.get("role"));
            String content = String.valueOf(message.get("content"));
            if (role.equals("system")
                    && !all.isEmpty()
                    && all.getLast().get("role").equals("system")) {
                Map<String, Object> before = all.removeLast();
                all.add(message("system", content + "\n\n" + before.get("content")));
            } else if (role.equals("tool")) {
                all.add(message("user", "<tool_response>\n" + content + "\n</tool_response>"));
            } else if (message.get("tool_calls") instanceof List<?> calls) {
                all.add(message(role, content + called(calls)));
            } else {
                all.add(message);
            }
        }
        return all;
    }

    private static String called(List<?> calls) {
        StringBuilder text = new StringBuilder();
        for (Object call : calls) {
            Object function = call instanceof Map<?, ?> map ? map.get("function") : null;
            text.append("\n<tool_call>\n").append(Json.text(function)).append("\n</tool_call>");
        }
        return text.toString();
    }

    private static Map<String, Object> message(String role, String content) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }

    private static String piece(Tokenizer tokenizer, OptionalInt token) {
        return token.isPresent() ? tokenizer.piece(token.getAsInt()) : "";
    }
}
