package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.Channels;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.platform.grammar.GrammarBuilder;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Writes the parts of forced replies as a model does: marks that are control tokens of its vocabulary are those
/// tokens.
final class ReplyTexts {
    private static final String ANY_TEXT = "{\"type\":\"string\"}";

    private final GrammarBuilder builder;
    private final TemplateFormat format;
    private final TokenVocabulary vocabulary;

    ReplyTexts(GrammarBuilder builder, TemplateFormat format, TokenVocabulary vocabulary) {
        this.builder = builder;
        this.format = format;
        this.vocabulary = vocabulary;
    }

    /// {@return a fixed text}
    private Expr text(String text) {
        List<Expr> parts = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < text.length(); ) {
            int control = vocabulary.controlAt(text, i);
            if (control == 0) {
                i++;
                continue;
            }
            parts.add(builder.literal(text.substring(from, i)));
            parts.add(builder.token(text.substring(i, i + control)));
            i += control;
            from = i;
        }
        parts.add(builder.literal(text.substring(from)));
        return builder.sequence(parts.toArray(Expr[]::new));
    }

    /// {@return a part once or not at all}
    private Expr optional(Expr part) {
        return builder.repeat(part, 0, 1);
    }

    /// {@return an answer, with what the model writes before it}
    Expr answer(Expr answer) {
        return isChannels() ? builder.sequence(text("<|channel|>final<|message|>"), answer) : answer;
    }

    private boolean isChannels() {
        return format.calls().shape() instanceof Channels;
    }

    /// {@return a reply after its reasoning}
    ///
    /// @param thinking whether it begins inside of it
    Expr afterThoughts(Expr reply, boolean thinking) {
        if (isChannels()) {
            Expr thoughts = builder.sequence(
                    text("<|channel|>analysis<|message|>"),
                    builder.rawString(ANY_TEXT, "<|end|>"),
                    text("<|end|><|start|>assistant"));
            return builder.sequence(optional(thoughts), reply);
        }
        return thinking
                ? builder.sequence(
                        builder.rawString(ANY_TEXT, format.thought()),
                        text(format.thought()),
                        builder.regex("[ \\n]{0,4}"),
                        reply)
                : reply;
    }

    /// {@return calls of tools}
    ///
    /// @param request which tool is called, and whether only one
    /// @param tools the tools
    Expr calls(ChatRequest request, ToolSchemas tools) {
        CallFormat.Wording wording = format.calls().wording();
        String only = request.toolChoice().name();
        Optional<String> counted = CallSyntax.number(format.calls());
        Expr number = counted.map(
                        before -> builder.sequence(builder.literal(before), builder.regex("0|[1-9][0-9]{0,2}")))
                .orElseGet(() -> builder.literal(""));
        List<Expr> each = new ArrayList<>();
        for (String name : tools.names()) {
            if (only == null || only.equals(name)) {
                Expr arguments = switch (format.calls().shape()) {
                    case NameThenTags tags -> parameters(tags, tools, name);
                    case NameThenLiterals shape -> literals(Literals.of(shape.notation()), tools, name);
                    default -> builder.jsonSchema(Json.text(tools.forced(name)));
                };
                each.add(builder.sequence(
                        text(wording.prefix()),
                        builder.literal(CallSyntax.written(format.calls(), name)),
                        number,
                        text(wording.middle()),
                        arguments,
                        text(wording.suffix())));
            }
        }
        if (each.isEmpty()) {
            throw ChatException.invalid(
                    ChatException.Part.TOOL_CHOICE,
                    "The tool '" + only + "' that is to be called is none of the tools.");
        }
        Expr one = builder.anyOf(each.toArray(Expr[]::new));
        Expr more = format.calls()
                .between()
                .filter(between -> request.severalCalls() && only == null)
                .map(between -> builder.repeat(builder.sequence(text(between), one), 0, Expr.UNBOUNDED))
                .orElseGet(() -> builder.literal(""));
        return builder.sequence(text(wording.before()), one, more, text(wording.after()));
    }

    private static Map<String, Object> all(ToolSchemas tools, String name) {
        Map<String, Object> all = new LinkedHashMap<>(tools.parameters(name));
        tools.required(name).forEach(key -> all.putIfAbsent(String.valueOf(key), true));
        return all;
    }

    private static void require(boolean written, String key) {
        if (!written) {
            throw ChatException.invalid(
                    ChatException.Part.TOOLS,
                    "The model's form of calls has no way to write the parameter '" + key + "'.");
        }
    }

    private Expr literals(Literals notation, ToolSchemas tools, String name) {
        // What may follow where no argument was written yet, and after one: the last arguments first.
        Expr none = builder.literal("");
        Expr some = none;
        for (Map.Entry<String, Object> each :
                List.copyOf(all(tools, name).entrySet()).reversed()) {
            require(notation.writes(each.getKey()), each.getKey());
            Expr part = builder.sequence(
                    builder.literal(each.getKey() + notation.assign()), value(notation, each.getValue()));
            boolean optional = !tools.required(name).contains(each.getKey());
            Expr first = builder.sequence(part, some);
            Expr next = builder.sequence(builder.literal(notation.between()), part, some);
            none = optional ? builder.anyOf(first, none) : first;
            some = optional ? builder.anyOf(next, some) : next;
        }
        return none;
    }

    private Expr value(Literals notation, Object schema) {
        String quote = notation.quote();
        if (quote.isEmpty() && schema instanceof Map<?, ?> map && "boolean".equals(map.get("type"))) {
            return builder.anyOf(builder.literal("True"), builder.literal("False"));
        }
        return quote.isEmpty() || !ToolSchemas.isText(schema)
                ? builder.jsonSchema(Json.text(schema))
                : builder.sequence(text(quote), raw(schema, quote), text(quote));
    }

    private Expr parameters(NameThenTags tags, ToolSchemas tools, String name) {
        List<Expr> parts = new ArrayList<>();
        all(tools, name).forEach((key, schema) -> {
            require(!key.isBlank() && key.strip().equals(key) && !key.matches("(?s).*[<>\"\n].*"), key);
            String line = tags.wrapped() ? "\n" : "";
            String open = tags.valueOpen().isEmpty() ? "" : "\n" + tags.valueOpen();
            Expr part = builder.sequence(
                    text(tags.keyOpen()
                            + key
                            + (ToolSchemas.isText(schema) ? tags.keyEnd() : tags.otherKeyEnd())
                            + open
                            + line),
                    value(tags, schema),
                    text(line + tags.valueEnd() + "\n"));
            parts.add(tools.required(name).contains(key) ? part : optional(part));
        });
        return builder.sequence(parts.toArray(Expr[]::new));
    }

    private Expr value(NameThenTags tags, Object schema) {
        return ToolSchemas.isText(schema) ? raw(schema, tags.valueEnd()) : builder.jsonSchema(Json.text(schema));
    }

    @SuppressWarnings("unchecked") // JSON
    private Expr raw(Object schema, String end) {
        Map<String, Object> typed = new LinkedHashMap<>((Map<String, Object>) schema);
        typed.put("type", "string");
        return builder.rawString(Json.text(typed), end);
    }
}
