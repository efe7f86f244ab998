package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.platform.server.chat.ReplyListener;

/// One of the replies to a request.
///
/// @param request what to generate
/// @param listener hears it, on a thread of the choice's own
/// @param ended called on the same thread when it has ended by itself
public record Choice(GenerationRequest request, ReplyListener listener, Ending ended) {
    /// Hears the end of a choice.
    @FunctionalInterface
    public interface Ending {
        /// Takes the end.
        ///
        /// @param usage counts and times
        void ended(dev.tenon.api.engine.Usage usage);
    }
}
