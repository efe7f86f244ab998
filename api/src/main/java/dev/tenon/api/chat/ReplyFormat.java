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

    /// The marks around reasoning, which stands before the answer, and around the answer.
    ///
    /// @param open what begins it, such as `[THINK]` of Mistral
    /// @param close what ends it, such as `[/THINK]`
    /// @param answerOpen what begins the answer, such as `<response>` of ERNIE 4.5; empty if nothing
    ///     does, as with most models
    /// @param answerClose what ends it, such as `</response>`; empty if nothing does
    public record Reasoning(String open, String close, String answerOpen, String answerClose) {
        /// What most models write, and what costs nothing where a model does not reason: `<think>`
        /// and `</think>`.
        public static final Reasoning THINK = new Reasoning("<think>", "</think>");

        /// Creates marks where none stand around the answer.
        ///
        /// @param open as above
        /// @param close as above
        /// @throws IllegalArgumentException if a mark is blank
        public Reasoning(String open, String close) {
            this(open, close, "", "");
        }

        /// Checks.
        ///
        /// @throws IllegalArgumentException if a mark of reasoning is blank, or only one of an answer is
        public Reasoning {
            if (open.isBlank() || close.isBlank()) {
                throw new IllegalArgumentException(
                        "The marks of reasoning are '" + open + "' and '" + close + "'; expected texts.");
            }
            if (answerOpen.isBlank() != answerClose.isBlank()) {
                throw new IllegalArgumentException(
                        "The marks of an answer are '" + answerOpen + "' and '" + answerClose + "'; expected both.");
            }
        }
    }
}
