package dev.tenon.platform.chat;

import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.platform.grammar.Grammar;
import dev.tenon.platform.grammar.GrammarBuilder;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.grammar.mask.LongWork;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.lang.ref.SoftReference;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Makes grammars of what replies have to be, and keeps the last ones while there is memory. Safe for any
/// thread.
final class ReplyGrammar {
    private static final int KEPT = 64;

    private final Map<Key, SoftReference<Grammar>> grammars = new LinkedHashMap<>(KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, SoftReference<Grammar>> eldest) {
            return size() > KEPT;
        }
    };

    /// {@return the grammar of replies}
    ///
    /// @param request which has a format, or tools that have to be called
    /// @param format how the model writes
    /// @param thinking whether the reply begins inside its reasoning
    /// @param vocabulary the model's tokens
    /// @throws ChatException that says what cannot be enforced
    Grammar of(ChatRequest request, TemplateFormat format, boolean thinking, TokenVocabulary vocabulary) {
        boolean calls = request.toolChoice().mode() == ToolChoice.Mode.REQUIRED;
        List<Map<String, Object>> tools = calls ? TemplateValues.tools(request.tools()) : List.of();
        String asked = Json.text(List.of(
                request.format().toString(),
                request.toolChoice().toString(),
                request.severalCalls(),
                tools,
                format.toString(),
                thinking));
        Key key = new Key(asked, vocabulary);
        synchronized (grammars) {
            SoftReference<Grammar> kept = grammars.get(key);
            Grammar known = kept == null ? null : kept.get();
            if (known != null) {
                return known;
            }
        }
        Grammar made = made(request, tools, format, thinking, vocabulary);
        synchronized (grammars) {
            grammars.put(key, new SoftReference<>(made));
        }
        return made;
    }

    /// The control tokens of a vocabulary are part of a grammar.
    private record Key(String asked, TokenVocabulary vocabulary) {}

    /// {@return a grammar that has made its first mask}
    private static Grammar made(
            ChatRequest request,
            List<Map<String, Object>> tools,
            TemplateFormat format,
            boolean thinking,
            TokenVocabulary vocabulary) {
        try {
            return LongWork.call(() -> make(request, tools, format, thinking, vocabulary))
                    .tried(vocabulary);
        } catch (GrammarException e) {
            boolean calls = request.format() instanceof TextFormat.Any;
            throw ChatException.of(calls ? ChatException.Part.TOOLS : ChatException.Part.FORMAT, e);
        }
    }

    private static Grammar make(
            ChatRequest request,
            List<Map<String, Object>> tools,
            TemplateFormat format,
            boolean thinking,
            TokenVocabulary vocabulary) {
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        ReplyTexts texts = new ReplyTexts(builder, format, vocabulary);
        Expr reply = switch (request.format()) {
            case TextFormat.Schema schema -> texts.answer(builder.jsonSchema(schema.json()));
            case TextFormat.Gbnf gbnf -> texts.answer(builder.gbnf(gbnf.text()));
            case TextFormat.Any _ -> texts.calls(request, new ToolSchemas(tools));
        };
        return builder.build(texts.afterThoughts(reply, thinking));
    }
}
