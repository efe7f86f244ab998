package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.Tokenizer;
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
            %s
            </tools>
            For each call write the function's name and its arguments, a JSON object, in this form:
            %s""";

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
        // What keeps control tokens in texts of users from being such: marks, which leave borders.
        Tokenizer tokenizer = model.tokenizer();
        UserText user = texts(tokenizer, messages, tools, request.variables());
        Map<String, Object> variables = new LinkedHashMap<>();
        request.variables().forEach((name, value) -> variables.put(name, user.mark(value)));
        String text = render(marked(user, messages), marked(user, tools), variables, end == null);
        UserText.Plain plain = user.plain(end == null ? text : before(text, end));
        boolean written = !template.bos().isEmpty() && plain.text().startsWith(template.bos());
        int[] tokens = PromptText.encode(model, plain.text(), tokenizer.addsBos() && !written, plain.borders());
        return new ChatPrompt(plain.text(), plain.borders(), tokens);
    }

    private UserText texts(Tokenizer tokenizer, Object... input) {
        try {
            return new UserText(tokenizer, template.source(), input);
        } catch (TenonException e) {
            throw ChatException.of(ChatException.Part.TURNS, e);
        }
    }

    @SuppressWarnings("unchecked") // marking keeps lists and maps as they are
    private static List<Map<String, Object>> marked(UserText user, List<Map<String, Object>> values) {
        return (List<Map<String, Object>>) user.mark(values);
    }

    private String render(
            List<Map<String, Object>> messages,
            List<Map<String, Object>> tools,
            Map<String, Object> variables,
            boolean answered) {
        ReplyFormat format = template.format();
        List<Map<String, Object>> all = format.takesCalls() ? messages : withoutCalls(format, messages);
        if (format.takesTools()) {
            if (!tools.isEmpty()) {
                variables.put("tools", tools);
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
        message.compute(thoughts ? "reasoning_content" : "content", (key, text) -> text + end);
    }

    /// What the template wrote up to the end of the last turn.
    private static String before(String text, String end) {
        int at = text.lastIndexOf(end);
        if (at < 0) {
            throw ChatException.invalid(
                    ChatException.Part.CONTINUED, "The template does not write the last message; it cannot go on.");
        }
        return text.substring(0, at);
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
        all.addFirst(TemplateValues.message("system", instructions));
        return all;
    }

    /// Writes calls and their results as text, for a template that knows none of them.
    private static List<Map<String, Object>> withoutCalls(ReplyFormat format, List<Map<String, Object>> messages) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Map<String, Object> message : messages) {
            String role = String.valueOf(message.get("role"));
            String content = String.valueOf(message.get("content"));
            if (role.equals("tool")) {
                all.add(TemplateValues.message("user", "<tool_response>\n" + content + "\n</tool_response>"));
            } else if (message.get("tool_calls") instanceof List<?> calls) {
                List<Object> functions = new ArrayList<>();
                calls.forEach(call -> functions.add(TemplateValues.copy(call).get("function")));
                all.add(TemplateValues.message(role, content + "\n" + called(format, functions)));
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
            Map<String, Object> function = TemplateValues.copy(each);
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
}
