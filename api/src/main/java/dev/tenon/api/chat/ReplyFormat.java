package dev.tenon.api.chat;

import java.util.Objects;

/// How a model writes what is not plain answer. Immutable.
///
/// @param calls its calls of tools; never null
/// @param reasoning its reasoning, such as [Reasoning#THINK]; never null
public record ReplyFormat(CallFormat calls, Reasoning reasoning) {
    /// Checks that nothing is null.
    public ReplyFormat {
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(reasoning, "reasoning");
    }

    /// The marks around reasoning, which stands before the answer.
    ///
    /// @param open what begins it, such as `[THINK]` of Mistral
    /// @param close what ends it, such as `[/THINK]`
    public record Reasoning(String open, String close) {
        /// What most models write, and what costs nothing where a model does not reason: `<think>`
        /// and `</think>`.
        public static final Reasoning THINK = new Reasoning("<think>", "</think>");

        /// Checks.
        ///
        /// @throws IllegalArgumentException if a mark is blank
        public Reasoning {
            if (open.isBlank() || close.isBlank()) {
                throw new IllegalArgumentException(
                        "The marks of reasoning are '" + open + "' and '" + close + "'; expected texts.");
            }
        }
    }
}
