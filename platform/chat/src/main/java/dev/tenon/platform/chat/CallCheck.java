package dev.tenon.platform.chat;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.ChatTemplate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Finds out whether the calls that a template writes are read: it writes one, which the reader has to give back.
final class CallCheck {
    private static final String TOOL = "look_up";
    /// Arguments, and their types. The first are easy to write in a wrong way; a template that has no way to write a
    /// quote, or a list among the parameters, shows by the second how the model calls.
    private static final String[][] CALLS = {
        {"""
            {"text": "a \\"b\\" 'c' \\\\ d\\n\\te\u00e9\ud83d\ude00", "empty": "", "digits": "12345", "yes": true,
             "count": -3, "none": null, "list": ["x", "y"], "nested": {"k": {"l": ["m", 1, false]}}}""", """
            {"text": {"type": "string"}, "empty": {"type": "string"}, "digits": {"type": "string"},
             "yes": {"type": "boolean"}, "count": {"type": "integer"}, "none": {"type": ["string", "null"]},
             "list": {"type": "array", "items": {"type": "string"}}, "nested": {"type": "object", "properties": {}}}"""},
        {"{\"text\": \"a b\", \"count\": -3}", "{\"text\": {\"type\": \"string\"}, \"count\": {\"type\": \"integer\"}}"}
    };

    private CallCheck() {}

    /// {@return whether a call comes back}
    ///
    /// @param format the form that the template seems to have
    /// @param template the template, which writes calls
    /// @param variables what it needs beside messages and tools
    static boolean comesBack(TemplateFormat format, ChatTemplate template, Map<String, Object> variables) {
        return Stream.of(CALLS).anyMatch(each -> comesBack(format, template, variables, each));
    }

    /// {@return whether a call whose arguments are hard to write comes back}
    static boolean allComesBack(TemplateFormat format, ChatTemplate template, Map<String, Object> variables) {
        return comesBack(format, template, variables, CALLS[0]);
    }

    private static boolean comesBack(
            TemplateFormat format, ChatTemplate template, Map<String, Object> variables, String[] call) {
        Object parameters = map("type", "object", "properties", plain(call[1]), "required", List.of("text"));
        Object function = map("name", TOOL, "description", "Looks it up.", "parameters", parameters);
        Map<String, Object> all = new LinkedHashMap<>(variables);
        all.put("tools", List.of(map("type", "function", "function", function)));
        return writes(format, template, all, call[0], plain(call[0]))
                || writes(format, template, all, call[0], call[0]);
    }

    private static boolean writes(
            TemplateFormat format,
            ChatTemplate template,
            Map<String, Object> variables,
            String arguments,
            Object given) {
        CallSyntax syntax = CallSyntax.of(format.calls());
        String id = CallSyntax.number(format.calls())
                .map(number -> syntax.lead() + TOOL + number + 0)
                .orElse("abcdefghi");
        Object call = map("id", id, "type", "function", "function", map("name", TOOL, "arguments", given));
        List<Object> messages = new ArrayList<>(List.of(map("role", "user", "content", "Hi")));
        try {
            String prompt = template.render(with(variables, messages, true));
            messages.add(map("role", "assistant", "content", "", "tool_calls", List.of(call)));
            String all = template.render(with(variables, messages, false));
            int begin = begin(format, syntax, prompt, all);
            CollectedReply reply = new CollectedReply();
            ReplyParser parser = ReplyParser.of(format, all.substring(0, begin), tools(variables), reply);
            parser.text(all.substring(begin));
            parser.finish();
            return reply.calls().size() == 1
                    && reply.calls().getFirst().name().equals(TOOL)
                    && reply.calls().getFirst().input().equals(Json.parse(arguments));
        } catch (TenonException e) {
            return false; // a template may take only one kind of arguments, or none
        }
    }

    private static Map<String, Object> with(Map<String, Object> variables, List<Object> messages, boolean opens) {
        Map<String, Object> all = new LinkedHashMap<>(variables);
        all.put("messages", List.copyOf(messages));
        all.put("add_generation_prompt", opens);
        return all;
    }

    /// {@return where the reply begins: where the two texts part, or with the mark in which they do}
    private static int begin(TemplateFormat format, CallSyntax syntax, String prompt, String all) {
        int same = 0;
        while (same < Math.min(prompt.length(), all.length()) && prompt.charAt(same) == all.charAt(same)) {
            same++;
        }
        List<String> marks = new ArrayList<>(format.calls().marks());
        marks.addAll(syntax.openers());
        marks.addAll(List.of(format.think(), format.thought()));
        int begin = same;
        for (String mark : marks) {
            int at = all.lastIndexOf(mark, same - 1);
            begin = at >= 0 && at + mark.length() > same ? Math.min(begin, at) : begin;
        }
        return begin;
    }

    @SuppressWarnings("unchecked") // as they were put there
    private static List<Map<String, Object>> tools(Map<String, Object> variables) {
        return (List<Map<String, Object>>) variables.get("tools");
    }

    private static Object plain(String json) {
        return Json.plain(Json.parse(json));
    }

    private static Map<String, Object> map(Object... entries) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < entries.length; i += 2) {
            map.put((String) entries[i], entries[i + 1]);
        }
        return map;
    }
}
