package dev.tenon.platform.grammar;

import dev.tenon.platform.grammar.automaton.Automaton;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.grammar.gbnf.GbnfParser;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import dev.tenon.platform.grammar.regex.Regex;
import dev.tenon.platform.grammar.schema.SchemaCompiler;

/// Puts a grammar together, such as a call of a tool: a fixed text, then JSON of a schema, then
/// another text. Its methods throw [dev.tenon.platform.grammar.expr.GrammarException] for what they
/// do not understand (`GRAMMAR-001`), cannot enforce (`GRAMMAR-002`), or what exceeds a limit
/// (`GRAMMAR-003`). Not safe for several threads.
public final class GrammarBuilder {
    private final ExprPool pool;

    /// Makes a builder.
    ///
    /// @param limits what the grammar may cost
    public GrammarBuilder(GrammarLimits limits) {
        this.pool = new ExprPool(limits);
    }

    /// {@return exactly this text}
    ///
    /// @param text any text
    public Expr literal(String text) {
        return pool.literal(text);
    }

    /// {@return the JSON texts that satisfy a JSON Schema}
    ///
    /// @param schema the schema, of draft 2020-12 or 7
    public Expr jsonSchema(String schema) {
        return SchemaCompiler.compile(pool, schema);
    }

    /// {@return the strings that satisfy a schema, as they are: without quotes and escapes}
    ///
    /// @param schema the schema of strings alone, without parts
    /// @param without a text that none of them has inside, such as the one that ends them
    public Expr rawString(String schema, String without) {
        return pool.and(
                SchemaCompiler.rawString(pool, schema),
                pool.not(pool.concat(pool.all(), pool.literal(without), pool.all())));
    }

    /// {@return one control token. A vocabulary that has none of this name has no mask for it}
    ///
    /// @param piece its name in the vocabulary
    public Expr token(String piece) {
        return pool.concat(pool.bytes(TokenVocabulary.CONTROL, TokenVocabulary.CONTROL), pool.literal(piece));
    }

    /// {@return the texts of the rule `root` of a grammar in GBNF}
    ///
    /// @param source the grammar
    public Expr gbnf(String source) {
        return GbnfParser.parse(pool, source);
    }

    /// {@return the texts that match a regular expression as a whole}
    ///
    /// @param source the regular expression, as ECMAScript writes it
    public Expr regex(String source) {
        return Regex.whole(pool, source);
    }

    /// {@return the parts after each other}
    ///
    /// @param parts what this builder made
    public Expr sequence(Expr... parts) {
        return pool.concat(parts);
    }

    /// {@return any one of the parts}
    ///
    /// @param parts what this builder made
    public Expr anyOf(Expr... parts) {
        return pool.or(parts);
    }

    /// {@return a part several times}
    ///
    /// @param part what this builder made
    /// @param min how often at least
    /// @param max how often at most; [Expr#UNBOUNDED] for no limit
    public Expr repeat(Expr part, int min, int max) {
        return pool.repeat(part, min, max);
    }

    /// Compiles the grammar; the builder may not be used afterwards.
    ///
    /// @param root what whole texts belong to, made by this builder
    /// @return the grammar
    public Grammar build(Expr root) {
        return new Grammar(new Automaton(pool, root));
    }
}
