package dev.tenon.platform.grammar;

import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.grammar.automaton.Automaton;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.grammar.mask.GrammarMasks;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.util.concurrent.locks.ReentrantLock;

/// A compiled grammar: which texts a model may write. Made by [GrammarBuilder], or by the short
/// forms here. Safe for any thread; what one generation learns about it serves the next ones.
public final class Grammar {
    private final Automaton automaton;
    private final ReentrantLock lock = new ReentrantLock();
    /// Of the vocabulary that was used last: a grammar seldom serves several models.
    private volatile GrammarMasks masks;

    Grammar(Automaton automaton) {
        this.automaton = automaton;
    }

    /// {@return the JSON texts that satisfy a JSON Schema, with blanks as docs/grammar.md has them}
    ///
    /// @param schema the schema, of draft 2020-12 or 7
    /// @throws dev.tenon.platform.grammar.expr.GrammarException (`GRAMMAR-001`) if it is no schema,
    ///     (`GRAMMAR-002`) if it cannot be enforced, (`GRAMMAR-003`) if it exceeds a limit
    public static Grammar ofJsonSchema(String schema) {
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        return builder.build(builder.jsonSchema(schema));
    }

    /// {@return the texts of the rule `root` of a grammar in GBNF}
    ///
    /// @param source the grammar
    /// @throws dev.tenon.platform.grammar.expr.GrammarException as above
    public static Grammar ofGbnf(String source) {
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        return builder.build(builder.gbnf(source));
    }

    /// {@return the texts that match a regular expression as a whole}
    ///
    /// @param source the regular expression, as ECMAScript writes it
    /// @throws dev.tenon.platform.grammar.expr.GrammarException as above
    public static Grammar ofRegex(String source) {
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        return builder.build(builder.regex(source));
    }

    /// What masks have cost: their time goes by it.
    ///
    /// @param nodes visited nodes of the trees of a vocabulary's tokens
    /// @param transitions transitions that were made, rather than looked up
    public record Work(long nodes, long transitions) {}

    /// {@return what was done so far, for the vocabulary that was used last}
    public Work work() {
        lock.lock();
        try {
            return new Work(masks == null ? 0 : masks.visited(), automaton.steps());
        } finally {
            lock.unlock();
        }
    }

    /// {@return whether a whole text belongs to the grammar}
    ///
    /// @param text any text
    public boolean matches(String text) {
        lock.lock();
        try {
            automaton
                    .work()
                    .begin("Reading the text by the grammar", automaton.limits().textWork());
            return automaton.matches(text);
        } finally {
            lock.unlock();
        }
    }

    /// {@return this grammar, if it can be used: fails where its first mask does, before a text is begun}
    ///
    /// @param vocabulary the model's tokens
    /// @throws dev.tenon.platform.grammar.expr.GrammarException (`GRAMMAR-003`) if that takes too
    ///     much work, (`GRAMMAR-002`) if no token can come first
    public Grammar tried(TokenVocabulary vocabulary) {
        constraint(vocabulary).mask(new long[vocabulary.words()]);
        return this;
    }

    /// {@return a constraint at the start of a text, for one sequence}
    ///
    /// @param vocabulary the model's tokens
    public TokenConstraint constraint(TokenVocabulary vocabulary) {
        GrammarMasks known = masks;
        if (known == null || known.vocabulary() != vocabulary) {
            known = new GrammarMasks(automaton, lock, vocabulary);
            masks = known;
        }
        return known.constraint();
    }
}
