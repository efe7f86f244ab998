package dev.tenon.platform.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.TemplateText;
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
            """;
    private static final String FORM = """

            </tools>
            For each call write the function's name and its arguments, a JSON object, in this form:
            """;

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
        UserText user = new UserText(tokenizer);
        Map<String, Object> variables = new LinkedHashMap<>();
        input.variables().forEach((name, value) -> variables.put(name, user.mark(value)));
        List<Map<String, Object>> messages = input.messages();
        List<Map<String, Object>> tools = input.tools();
        if (!format.takesCalls()) {
            messages = withoutCalls(format, messages);
        }
        if (format.takesTools()) {
            if (!tools.isEmpty()) {
                variables.put("tools", user.mark(tools));
            }
        } else if (!tools.isEmpty()) {
            messages = withTools(format, messages, tools);
        }
        String bos = piece(tokenizer, tokenizer.bos());
        variables.put("bos_token", bos);
        variables.put("eos_token", piece(tokenizer, tokenizer.eos()));
        variables.put("add_generation_prompt", !input.continued());
        UserText.Plain plain = render(template, user, variables, messages);
        if (input.continued()) {
            plain = open(plain, String.valueOf(messages.getLast().get("content")));
        }
        boolean added = tokenizer.addsBos() && !plain.beginsWith(bos);
        int[] tokens = PromptText.encode(model, plain.text(), added, plain.borders());
        return new ChatPrompt(plain.text(), tokens);
    }

    /// Cuts off what the template wrote after the last message, so that it goes on.
    private static UserText.Plain open(UserText.Plain prompt, String last) {
        String content = last.strip();
        int at = prompt.text().lastIndexOf(content);
        if (content.isEmpty() || at < 0) {
            throw ChatException.invalid(
                    "continue_final_message",
                    "The last message is empty, or the template changes it; it cannot go on.");
        }
        return prompt.to(at + content.length());
    }

    /// Renders a conversation; again with the arguments of calls as text, where the template fails to take objects.
    private static UserText.Plain render(
            ChatTemplate template, UserText user, Map<String, Object> variables, List<Map<String, Object>> messages) {
        variables.put("messages", user.mark(messages));
        try {
            return user.render(template, variables);
        } catch (ModelFormatException e) {
            if (messages.stream().noneMatch(message -> message.containsKey("tool_calls"))) {
                throw e;
            }
            variables.put(
                    "messages",
                    user.mark(messages.stream().map(ChatPrompt::withText).toList()));
            try {
                return user.render(template, variables);
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
        TemplateText form = called(format, List.of(Map.of("name", "NAME", "arguments", "ARGUMENTS")));
        TemplateText instructions = UserText.join(INSTRUCTIONS, TemplateText.ofClient(lines), FORM, form);
        List<Map<String, Object>> all = new ArrayList<>(messages);
        if ("system".equals(all.getFirst().get("role"))) {
            String system = String.valueOf(all.removeFirst().get("content"));
            instructions = UserText.join(TemplateText.ofClient(system), "\n\n", instructions);
        }
        all.addFirst(message("system", instructions));
        return all;
    }

    /// Writes calls and their results as text, for a template that knows none of them.
    private static List<Map<String, Object>> withoutCalls(ReplyFormat format, List<Map<String, Object>> messages) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Map<String, Object> message : messages) {
            String role = String.valueOf(message.get("role"));
            TemplateText content = TemplateText.ofClient(String.valueOf(message.get("content")));
            if (role.equals("tool")) {
                all.add(message("user", UserText.join("<tool_response>\n", content, "\n</tool_response>")));
            } else if (message.get("tool_calls") instanceof List<?> calls) {
                List<Object> functions = new ArrayList<>();
                calls.forEach(call -> functions.add(copy(call).get("function")));
                all.add(message(role, UserText.join(content, "\n", called(format, functions))));
            } else {
                all.add(message);
            }
        }
        return all;
    }

    /// {@return calls as the model writes them}
    ///
    /// @param functions maps of name and arguments
    private static TemplateText called(ReplyFormat format, List<?> functions) {
        CallFormat.Wording wording = format.calls().wording();
        String between = format.calls().between() == null ? "" : format.calls().between();
        List<Object> parts = new ArrayList<>(List.of(wording.before()));
        int number = 0;
        for (Object each : functions) {
            Map<String, Object> function = copy(each);
            String name = format.calls().written(String.valueOf(function.get("name")));
            parts.add(number == 0 ? "" : between);
            parts.add(wording.prefix());
            parts.add(TemplateText.ofClient(name));
            parts.add((format.calls().numbered() ? number : "") + wording.middle());
            parts.add(TemplateText.ofClient(written(format.calls(), function.get("arguments"))));
            parts.add(wording.suffix());
            number++;
        }
        parts.add(wording.after());
        return UserText.join(parts.toArray());
    }

    private static String written(CallFormat calls, Object arguments) {
        if (calls.literals() != null) {
            return calls.literals().arguments(arguments);
        }
        return arguments instanceof String text ? text : Json.text(arguments);
    }

    private static Map<String, Object> message(String role, TemplateText content) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }

    private static String piece(Tokenizer tokenizer, OptionalInt token) {
        return token.isPresent() ? tokenizer.piece(token.getAsInt()) : "";
    }
}
