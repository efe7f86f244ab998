package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import dev.tenon.platform.chat.ReplyListener;
import dev.tenon.platform.chat.ReplySink;

/// Takes one of the replies to a request. Called on the thread of the choice.
public interface ChoiceOutput extends ReplySink {
    /// Hears, before anything else, what keeps the tokens of the reply.
    ///
    /// @param listener has log-probabilities, if they were asked for
    default void begins(ReplyListener listener) {}

    /// Hears the end.
    ///
    /// @param ending why, and the counts
    void ends(Ending ending);

    /// The end of a reply.
    ///
    /// @param usage counts and times
    /// @param reason why it ended
    /// @param stopText the text that ended it, or null
    record Ending(Usage usage, Reason reason, String stopText) {}

    /// Why a reply ended.
    enum Reason {
        /// The model ended it, or a stop text came.
        STOP,
        /// It reached its limit, or the context is full.
        LENGTH,
        /// It calls tools.
        CALLS;

        /// {@return why a reply ended}
        ///
        /// @param finish why its generation did
        /// @param calls whole calls of tools in it; at a limit another one may be cut
        static Reason of(FinishReason finish, int calls) {
            return finish == FinishReason.LENGTH ? LENGTH : calls > 0 ? CALLS : STOP;
        }
    }
}
