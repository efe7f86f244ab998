package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import dev.tenon.api.chat.CallFormat.Wording;
import dev.tenon.api.chat.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Writes calls as models do.
public final class CallWriter {
    private CallWriter() {}

    /// {@return calls as a model writes them}
    ///
    /// @param format how it writes
    /// @param calls the calls; ids are left out
    public static String write(CallFormat format, List<ToolCall> calls) {
        List<?> functions = calls.stream()
                .map(call -> Map.of("name", call.name(), "arguments", call.arguments()))
                .toList();
        return parts(format, functions, text -> text).stream()
                .map(String::valueOf)
                .collect(Collectors.joining());
    }

    /// {@return the parts of calls as a model writes them}
    ///
    /// @param functions maps of name and arguments
    /// @param client marks names and arguments, which are not the platform's own texts
    static List<Object> parts(CallFormat format, List<?> functions, Function<String, ?> client) {
        Wording wording = format.wording();
        Optional<String> counted = CallSyntax.number(format);
        List<Object> parts = new ArrayList<>(List.of(wording.before()));
        int number = 0;
        for (Object each : functions) {
            Map<String, Object> function = TemplateValues.copy(each);
            parts.add(number == 0 ? "" : format.between().orElse(""));
            parts.add(wording.prefix());
            parts.add(client.apply(CallSyntax.written(format, String.valueOf(function.get("name")))));
            parts.add((counted.isEmpty() ? "" : counted.get() + number) + wording.middle());
            parts.add(client.apply(arguments(format, function.get("arguments"))));
            parts.add(wording.suffix());
            number++;
        }
        parts.add(wording.after());
        return parts;
    }

    private static String arguments(CallFormat format, Object arguments) {
        if (format.shape() instanceof NameThenLiterals shape) {
            return Literals.of(shape.notation()).arguments(arguments);
        }
        String text = arguments instanceof String json ? json : Json.text(arguments);
        JsonNode object = format.shape() instanceof NameThenTags ? Json.parse(text) : null;
        return object != null && object.isObject() ? tagged((NameThenTags) format.shape(), object) : text;
    }

    private static String tagged(NameThenTags tags, JsonNode object) {
        String line = tags.wrapped() ? "\n" : "";
        String open = tags.valueOpen().isEmpty() ? "" : "\n" + tags.valueOpen();
        StringBuilder all = new StringBuilder();
        object.properties()
                .forEach(each -> all.append(tags.keyOpen() + each.getKey())
                        .append(each.getValue().isTextual() ? tags.keyEnd() : tags.otherKeyEnd())
                        .append(open + line)
                        .append(each.getValue().isTextual() ? each.getValue().asText() : each.getValue())
                        .append(line + tags.valueEnd() + "\n"));
        return all.toString();
    }
}
