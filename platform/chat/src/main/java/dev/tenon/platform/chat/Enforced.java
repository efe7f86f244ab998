package dev.tenon.platform.chat;

/// What a reply has to be.
public sealed interface Enforced {
    /// {@return nothing is asked of the reply}
    static Enforced nothing() {
        return new Free();
    }

    /// Anything.
    record Free() implements Enforced {}

    /// JSON that satisfies a schema.
    ///
    /// @param schema JSON Schema
    /// @param field field of the request that has it
    record Schema(String schema, String field) implements Enforced {}

    /// A text of a grammar.
    ///
    /// @param gbnf the grammar
    /// @param field field of the request that has it
    record Gbnf(String gbnf, String field) implements Enforced {}

    /// Calls of tools.
    ///
    /// @param name the tool to call; null for any
    /// @param several whether there may be more than one call
    record Calls(String name, boolean several) implements Enforced {}
}
