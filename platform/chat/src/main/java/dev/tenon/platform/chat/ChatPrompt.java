package dev.tenon.platform.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.UserText;
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
            For each call write the function's name and its arguments, a JSON object, in this form:
            %s""";

    /// Renders and encodes a conversation.
    ///
    /// @param model has template and vocabulary
    /// @param format how it writes calls of tools
    /// @param input the conversation
    /// @return the prompt
    /// @throws ChatException (`MODEL-009`) if the model has no template
    public static ChatPrompt of(LoadedModel model, ReplyFormat format, ChatInput input) {
        ChatTemplate template = model.chatTemplate()
                .orElseThrow(() -> new ChatException(
                        ErrorCode.MODEL_TEMPLATE,
                        "messages",
                        "The model has no chat template and does not chat. Have it continue a text.",
                        null));
        Tokenizer tokenizer = model.tokenizer();
        String source = model.file().metadata().string(ReplyFormat.TEMPLATE).orElse("");
        UserText user = texts(tokenizer, source, input);
        Map<String, Object> variables = new LinkedHashMap<>();
        input.variables().forEach((name, value) -> variables.put(name, user.mark(value)));
        List<Map<String, Object>> messages = marked(user, input.messages());
        List<Map<String, Object>> tools = marked(user, input.tools());
        if (!format.takesCalls()) {
            messages = withoutCalls(format, messages);
        }
        if (format.takesTools()) {
            if (!tools.isEmpty()) {
                variables.put("tools", tools);
            }
        } else if (!tools.isEmpty()) {
            messages = withTools(format, messages, tools);
        }
        String bos = piece(tokenizer, tokenizer.bos());
        variables.put("bos_token", bos);
        variables.put("eos_token", piece(tokenizer, tokenizer.eos()));
        variables.put("add_generation_prompt", !input.continued());
        variables.put("messages", messages);
        String text = render(template, variables, messages);
        if (input.continued()) {
            text = open(text, String.valueOf(messages.getLast().get("content")));
        }
        boolean written = !bos.isEmpty() && text.startsWith(bos);
        UserText.Plain plain = user.plain(text);
        int[] tokens = PromptText.encode(model, plain.text(), tokenizer.addsBos() && !written, plain.borders());
        return new ChatPrompt(plain.text(), tokens);
    }

    private static UserText texts(Tokenizer tokenizer, String template, ChatInput input) {
        try {
            return new UserText(tokenizer, template, input.messages(), input.tools(), input.variables());
        } catch (TenonException e) {
            throw ChatException.of("messages", e);
        }
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
            throw ChatException.invalid(
                    "continue_final_message",
                    "The last message is empty, or the template changes it; it cannot go on.");
        }
        return text.substring(0, at + content.length());
    }

    /// Renders a conversation; again with the arguments of calls as text, where the template fails to take objects.
    private static String render(
            ChatTemplate template, Map<String, Object> variables, List<Map<String, Object>> messages) {
        try {
            return template.render(variables);
        } catch (ModelFormatException e) {
            if (messages.stream().noneMatch(message -> message.containsKey("tool_calls"))) {
                throw e;
            }
            variables.put(
                    "messages", messages.stream().map(ChatPrompt::withText).toList());
            try {
                return template.render(variables);
            } catch (ModelFormatException again) {
                e.addSuppressed(again);
                throw e;
            }
        }
    }

    private static Map<String, Object> withText(Map<String, Object> message) {
        if (!(message.get("tool_calls") instanceof List<?> calls)) {
            return message;
        }
        List<Object> changed = new ArrayList<>();
        for (Object call : calls) {
            Map<String, Object> with = copy(call);
            Map<String, Object> function = copy(with.get("function"));
            function.computeIfPresent("arguments", (key, value) -> value instanceof String ? value : Json.text(value));
            with.put("function", function);
            changed.add(with);
        }
        Map<String, Object> with = copy(message);
        with.put("tool_calls", changed);
        return with;
    }

    @SuppressWarnings("unchecked") // JSON
    private static Map<String, Object> copy(Object map) {
        return new LinkedHashMap<>((Map<String, Object>) map);
    }

    /// Tells the model about tools in a system message, for a template that does not.
    private static List<Map<String, Object>> withTools(
            ReplyFormat format, List<Map<String, Object>> messages, List<Map<String, Object>> tools) {
        String lines = String.join("\n", tools.stream().map(Json::text).toList());
        String form = called(format, List.of(Map.of("name", "NAME", "arguments", "ARGUMENTS")));
        String instructions = INSTRUCTIONS.formatted(lines, form);
        List<Map<String, Object>> all = new ArrayList<>(messages);
        if ("system".equals(all.getFirst().get("role"))) {
            instructions = all.removeFirst().get("content") + "\n\n" + instructions;
        }
        all.addFirst(message("system", instructions));
        return all;
    }

    /// Writes calls and their results as text, for a template that knows none of them.
    private static List<Map<String, Object>> withoutCalls(ReplyFormat format, List<Map<String, Object>> messages) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Map<String, Object> message : messages) {
            String role = String.valueOf(message.get("role"));
            String content = String.valueOf(message.get("content"));
            if (role.equals("tool")) {
                all.add(message("user", "<tool_response>\n" + content + "\n</tool_response>"));
            } else if (message.get("tool_calls") instanceof List<?> calls) {
                List<Object> functions = new ArrayList<>();
                calls.forEach(call -> functions.add(copy(call).get("function")));
                all.add(message(role, content + "\n" + called(format, functions)));
            } else {
                all.add(message);
            }
        }
        return all;
    }

    /// {@return calls as the model writes them}
    ///
    /// @param functions maps of name and arguments
    private static String called(ReplyFormat format, List<?> functions) {
        CallFormat.Wording wording = format.calls().wording();
        String between = format.calls().between() == null ? "" : format.calls().between();
        List<String> calls = new ArrayList<>();
        for (Object each : functions) {
            Map<String, Object> function = copy(each);
            Object arguments = function.get("arguments");
            calls.add(wording.prefix()
                    + format.calls().written(String.valueOf(function.get("name")))
                    + (format.calls().numbered() ? calls.size() : "")
                    + wording.middle()
                    + written(format.calls(), arguments)
                    + wording.suffix());
        }
        return wording.before() + String.join(between, calls) + wording.after();
    }

    private static String written(CallFormat calls, Object arguments) {
        if (calls.literals() != null) {
            return calls.literals().arguments(arguments);
        }
        return arguments instanceof String text ? text : Json.text(arguments);
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
