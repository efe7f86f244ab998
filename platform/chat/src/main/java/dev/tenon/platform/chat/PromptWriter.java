package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.TemplateText;
import dev.tenon.platform.core.control.UserText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Writes conversations as prompts, by a model's template.
final class PromptWriter {
    private static final String INSTRUCTIONS = """
            You may call one or more functions to help with the user's query. These are their signatures:
            <tools>
            """;
    private static final String FORM = """

            </tools>
            For each call write the function's name and its arguments, a JSON object, in this form:
            """;

    /// Yi syllables: letters without case that are rarely written.
    private static final char FIRST_LETTER = 0xA000;

    private static final char LAST_LETTER = 0xA48C;

    private final LoadedModel model;
    private final ModelTemplate template;

    /// @param model has vocabulary and context
    /// @param template its template
    PromptWriter(LoadedModel model, ModelTemplate template) {
        this.model = model;
        this.template = template;
    }

    /// Renders and encodes a conversation.
    ///
    /// @param request the conversation
    /// @return the prompt
    ChatPrompt write(ChatRequest request) {
        boolean calls = request.turns().stream()
                .anyMatch(turn -> !turn.calls().isEmpty() || turn.role().equals(ChatTurn.TOOL));
        List<Map<String, Object>> messages =
                TemplateValues.turns(request.turns(), calls ? template.ids() : CallIds.ANY);
        List<Map<String, Object>> tools = TemplateValues.tools(request.offeredTools());
        String end = null;
        if (request.continued()) {
            end = unused(messages, tools, request.variables());
            mark(messages.getLast(), end);
        }
        UserText user = template.user();
        Map<String, Object> variables = new LinkedHashMap<>();
        request.variables().forEach((name, value) -> variables.put(name, user.mark(value)));
        UserText.Plain plain = render(messages, tools, variables, end == null);
        if (end != null) {
            plain = before(plain, end);
        }
        boolean added = model.tokenizer().addsBos() && !plain.beginsWith(template.bos());
        List<MediaPart> parts =
                request.turns().stream().flatMap(turn -> turn.media().stream()).toList();
        MediaPrompts.Encoded encoded = MediaPrompts.encode(model, plain.text(), added, plain.borders(), parts);
        return new ChatPrompt(plain.text(), plain.borders(), encoded.tokens(), encoded.media());
    }

    private UserText.Plain render(
            List<Map<String, Object>> messages,
            List<Map<String, Object>> tools,
            Map<String, Object> variables,
            boolean answered) {
        TemplateFormat format = template.format();
        List<Map<String, Object>> all = format.takesCalls() ? messages : withoutCalls(format, messages);
        if (format.takesTools()) {
            if (!tools.isEmpty()) {
                variables.put("tools", template.user().mark(tools));
            }
        } else if (!tools.isEmpty()) {
            all = withTools(format, all, tools);
        }
        return template.render(variables, all, answered);
    }

    /// A letter that neither the template nor the conversation has: it marks where a turn that is continued ends.
    private String unused(Object... values) {
        String all = template.source() + Json.text(values);
        for (char letter = LAST_LETTER; letter > FIRST_LETTER; letter--) {
            if (all.indexOf(letter) < 0) {
                return String.valueOf(letter);
            }
        }
        throw ChatException.invalid(
                ChatException.Part.TURNS, "The texts have all letters of the Yi script. Leave one out.");
    }

    /// Marks the end of a turn: that of its text, or of its reasoning if that is all it has.
    private static void mark(Map<String, Object> message, String end) {
        boolean thoughts = message.get("content").equals("") && message.containsKey("reasoning_content");
        message.compute(
                thoughts ? "reasoning_content" : "content",
                (key, text) -> UserText.join(TemplateText.ofClient(String.valueOf(text)), end));
    }

    /// What the template wrote up to the end of the last turn.
    private static UserText.Plain before(UserText.Plain prompt, String end) {
        int at = prompt.text().lastIndexOf(end);
        if (at < 0) {
            throw ChatException.invalid(
                    ChatException.Part.CONTINUED, "The template does not write the last message; it cannot go on.");
        }
        return prompt.to(at);
    }

    /// Tells the model about tools in a system message, for a template that does not.
    private static List<Map<String, Object>> withTools(
            TemplateFormat format, List<Map<String, Object>> messages, List<Map<String, Object>> tools) {
        String lines = String.join("\n", tools.stream().map(Json::text).toList());
        TemplateText form = called(format, List.of(Map.of("name", "NAME", "arguments", "ARGUMENTS")));
        TemplateText instructions = UserText.join(INSTRUCTIONS, TemplateText.ofClient(lines), FORM, form);
        List<Map<String, Object>> all = new ArrayList<>(messages);
        if ("system".equals(all.getFirst().get("role"))) {
            String system = String.valueOf(all.removeFirst().get("content"));
            instructions = UserText.join(TemplateText.ofClient(system), "\n\n", instructions);
        }
        all.addFirst(TemplateValues.message("system", instructions));
        return all;
    }

    /// Writes calls and their results as text, for a template that knows none of them.
    private static List<Map<String, Object>> withoutCalls(TemplateFormat format, List<Map<String, Object>> messages) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Map<String, Object> message : messages) {
            String role = String.valueOf(message.get("role"));
            TemplateText content = TemplateText.ofClient(String.valueOf(message.get("content")));
            if (role.equals("tool")) {
                all.add(TemplateValues.message(
                        "user", UserText.join("<tool_response>\n", content, "\n</tool_response>")));
            } else if (message.get("tool_calls") instanceof List<?> calls) {
                List<Object> functions = new ArrayList<>();
                calls.forEach(call -> functions.add(TemplateValues.copy(call).get("function")));
                all.add(TemplateValues.message(role, UserText.join(content, "\n", called(format, functions))));
            } else {
                all.add(message);
            }
        }
        return all;
    }

    /// {@return calls as the model writes them}
    ///
    /// @param functions maps of name and arguments
    private static TemplateText called(TemplateFormat format, List<?> functions) {
        return UserText.join(CallWriter.parts(format.calls(), functions, TemplateText::ofClient)
                .toArray());
    }
}
