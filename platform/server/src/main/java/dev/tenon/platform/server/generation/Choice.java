package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.GenerationRequest;
import java.util.Map;

/// One of the replies to a request.
///
/// @param request what to generate
/// @param adapters scales of the adapters that it uses, by name; null for those of the model
/// @param listener hears it, on a thread of the choice's own
/// @param ended called on the same thread when it has ended by itself
public record Choice(GenerationRequest request, Map<String, Float> adapters, ReplyListener listener, Ending ended) {
    /// Hears the end of a choice.
    @FunctionalInterface
    public interface Ending {
        /// Takes the end.
        ///
        /// @param usage counts and times
        void ended(dev.tenon.api.engine.Usage usage);
    }
}
