package dev.tenon.platform.server.generation;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.Usage;

/// Takes one of the replies to a request. Called on the thread of the choice.
public interface ChoiceOutput extends ChatEvents {
    /// {@return whether the tokens of the reply are kept for it, where no log-probabilities are asked for}
    default boolean keepsTokens() {
        return false;
    }

    /// Hears, before anything else, what keeps the tokens of the reply.
    ///
    /// @param listener has log-probabilities, if they were asked for
    default void begins(ReplyListener listener) {}

    /// Hears what is generated, before it is.
    ///
    /// @param request with all values, the seed too
    default void asks(GenerationRequest request) {}

    /// Hears the end.
    ///
    /// @param ending why, and the counts
    void ends(Ending ending);

    /// The end of a reply.
    ///
    /// @param usage counts and times
    /// @param reason why it ended
    /// @param stopText the text that ended it, or null
    record Ending(Usage usage, ChatEnd reason, String stopText) {}
}
