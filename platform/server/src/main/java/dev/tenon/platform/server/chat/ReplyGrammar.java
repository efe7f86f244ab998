package dev.tenon.platform.server.chat;

import dev.tenon.platform.grammar.Grammar;
import dev.tenon.platform.grammar.GrammarBuilder;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.server.http.Json;
import dev.tenon.platform.server.http.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Makes grammars of what replies have to be, and keeps the last ones. Safe for any thread.
public final class ReplyGrammar {
    private static final int KEPT = 64;
    /// Thoughts without the mark that ends them, then that mark.
    private static final String THOUGHTS = "([^<]|<[^/<])*</think>\\s{0,4}";

    private final Map<String, Grammar> grammars = new LinkedHashMap<>(KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Grammar> eldest) {
            return size() > KEPT;
        }
    };

    /// {@return the grammar of replies, or null if they are free}
    ///
    /// @param enforced what they have to be
    /// @param tools the tools that may be called
    /// @param format how calls are written
    /// @param thinking whether the reply begins inside its reasoning
    /// @throws RequestException (400) that names what cannot be enforced
    public Grammar of(Enforced enforced, List<Map<String, Object>> tools, ReplyFormat.Calls format, boolean thinking) {
        if (enforced instanceof Enforced.Free) {
            return null;
        }
        String key = Json.text(List.of(
                enforced.toString(), enforced instanceof Enforced.Calls ? tools : List.of(), format.name(), thinking));
        synchronized (grammars) {
            Grammar known = grammars.get(key);
            if (known != null) {
                return known;
            }
        }
        Grammar made = make(enforced, tools, format, thinking);
        synchronized (grammars) {
            grammars.put(key, made);
        }
        return made;
    }

    private static Grammar make(
            Enforced enforced, List<Map<String, Object>> tools, ReplyFormat.Calls format, boolean thinking) {
        String field = switch (enforced) {
            case Enforced.Schema schema -> schema.field();
            case Enforced.Gbnf gbnf -> gbnf.field();
            default -> "tools";
        };
        try {
            GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
            Expr reply = switch (enforced) {
                case Enforced.Schema schema -> builder.jsonSchema(schema.schema());
                case Enforced.Gbnf gbnf -> builder.gbnf(gbnf.gbnf());
                case Enforced.Calls calls -> calls(builder, calls, tools, format);
                case Enforced.Free _ -> throw new IllegalStateException("a free reply has no grammar");
            };
            return builder.build(thinking ? builder.sequence(builder.regex(THOUGHTS), reply) : reply);
        } catch (GrammarException e) {
            throw RequestException.tooMuch(field, "unsupported_grammar", e.getMessage())
                    .because(e);
        }
    }

    /// One call: a model that should call more does so in its next turn.
    private static Expr calls(
            GrammarBuilder builder, Enforced.Calls calls, List<Map<String, Object>> tools, ReplyFormat.Calls format) {
        List<Expr> each = new ArrayList<>();
        for (Map<String, Object> tool : tools) {
            Map<?, ?> function = (Map<?, ?>) tool.get("function");
            String name = String.valueOf(function.get("name"));
            if (calls.name() != null && !calls.name().equals(name)) {
                continue;
            }
            String arguments = format == ReplyFormat.Calls.BARE ? "parameters" : "arguments";
            each.add(builder.sequence(
                    builder.literal("{\"name\": " + Json.text(name) + ", \"" + arguments + "\": "),
                    builder.jsonSchema(Json.text(function.get("parameters"))),
                    builder.literal("}")));
        }
        if (each.isEmpty()) {
            throw RequestException.invalid("tool_choice", "tool_choice names no tool of tools.");
        }
        Expr one = each.size() == 1 ? each.getFirst() : builder.anyOf(each.toArray(Expr[]::new));
        return switch (format) {
            case TAGGED -> builder.sequence(builder.literal("<tool_call>\n"), one, builder.literal("\n</tool_call>"));
            case BARE -> one;
            case LISTED -> builder.sequence(builder.literal("["), one, builder.literal("]"));
        };
    }
}
