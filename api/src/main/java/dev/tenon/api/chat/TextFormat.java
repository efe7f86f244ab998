package dev.tenon.api.chat;

import java.util.Objects;

/// What an answer has to be.
public sealed interface TextFormat {
    /// {@return any text}
    static TextFormat any() {
        return new Any();
    }

    /// {@return JSON that satisfies a schema}
    ///
    /// @param json JSON Schema as text
    static TextFormat schema(String json) {
        return new Schema(json);
    }

    /// {@return a text of a grammar}
    ///
    /// @param gbnf the grammar
    static TextFormat grammar(String gbnf) {
        return new Gbnf(gbnf);
    }

    /// Any text.
    record Any() implements TextFormat {}

    /// JSON that satisfies a schema.
    ///
    /// @param json JSON Schema as text; never null
    record Schema(String json) implements TextFormat {
        /// Checks that nothing is null.
        public Schema {
            Objects.requireNonNull(json, "json");
        }
    }

    /// A text of a grammar.
    ///
    /// @param text the grammar in GBNF; never null
    record Gbnf(String text) implements TextFormat {
        /// Checks that nothing is null.
        public Gbnf {
            Objects.requireNonNull(text, "text");
        }
    }
}
