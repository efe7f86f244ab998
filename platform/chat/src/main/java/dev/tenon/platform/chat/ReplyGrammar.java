package dev.tenon.platform.chat;

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
import java.util.function.Supplier;

/// Makes grammars of what replies have to be, and keeps the last ones while there is memory. Safe for any
/// thread.
public final class ReplyGrammar {
    private static final int KEPT = 64;

    private final Map<Key, SoftReference<Grammar>> grammars = new LinkedHashMap<>(KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, SoftReference<Grammar>> eldest) {
            return size() > KEPT;
        }
    };

    /// {@return the grammar of replies, or null if they are free}
    ///
    /// @param enforced what they have to be
    /// @param tools the tools that may be called
    /// @param format how the model writes
    /// @param thinking whether the reply begins inside its reasoning
    /// @param vocabulary the model's tokens, asked for when they are needed
    /// @throws ChatException that names what cannot be enforced
    public Grammar of(
            Enforced enforced,
            List<Map<String, Object>> tools,
            ReplyFormat format,
            boolean thinking,
            Supplier<TokenVocabulary> vocabulary) {
        if (enforced instanceof Enforced.Free) {
            return null;
        }
        String asked = Json.text(List.of(
                enforced.toString(),
                enforced instanceof Enforced.Calls ? tools : List.of(),
                format.toString(),
                thinking));
        Key key = new Key(asked, LongWork.call(vocabulary));
        synchronized (grammars) {
            SoftReference<Grammar> kept = grammars.get(key);
            Grammar known = kept == null ? null : kept.get();
            if (known != null) {
                return known;
            }
        }
        Grammar made = made(enforced, tools, format, thinking, key.vocabulary());
        synchronized (grammars) {
            grammars.put(key, new SoftReference<>(made));
        }
        return made;
    }

    /// The control tokens of a vocabulary are part of a grammar.
    private record Key(String asked, TokenVocabulary vocabulary) {}

    /// {@return a grammar that has made its first mask}
    private static Grammar made(
            Enforced enforced,
            List<Map<String, Object>> tools,
            ReplyFormat format,
            boolean thinking,
            TokenVocabulary vocabulary) {
        try {
            return LongWork.call(() -> make(enforced, tools, format, thinking, vocabulary))
                    .tried(vocabulary);
        } catch (GrammarException e) {
            String field = switch (enforced) {
                case Enforced.Schema schema -> schema.field();
                case Enforced.Gbnf gbnf -> gbnf.field();
                default -> "tools";
            };
            throw ChatException.of(field, e);
        }
    }

    private static Grammar make(
            Enforced enforced,
            List<Map<String, Object>> tools,
            ReplyFormat format,
            boolean thinking,
            TokenVocabulary vocabulary) {
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        ReplyTexts texts = new ReplyTexts(builder, format, vocabulary);
        Expr reply = switch (enforced) {
            case Enforced.Schema schema -> texts.answer(builder.jsonSchema(schema.schema()));
            case Enforced.Gbnf gbnf -> texts.answer(builder.gbnf(gbnf.gbnf()));
            case Enforced.Calls calls -> texts.calls(calls, new ToolSchemas(tools));
            case Enforced.Free _ -> throw new IllegalStateException("a free reply has no grammar");
        };
        return builder.build(texts.afterThoughts(reply, thinking));
    }
}
