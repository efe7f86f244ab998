package dev.tenon.api.engine;

/// What happens in a [Generation]. More kinds may come: ignore those that you do not know.
public interface GenerationEvent {
    /// Tells a listener.
    ///
    /// @param listener hears the event
    void tell(GenerationListener listener);

    /// A part of the prompt has run.
    ///
    /// @param done prompt tokens run so far
    /// @param total prompt tokens in all
    record Prefill(int done, int total) implements GenerationEvent {
        @Override
        public void tell(GenerationListener listener) {
            listener.onPrefill(done, total);
        }
    }

    /// A token was sampled.
    ///
    /// @param token the token
    record Token(GeneratedToken token) implements GenerationEvent {
        @Override
        public void tell(GenerationListener listener) {
            listener.onToken(token);
        }
    }

    /// Text has become complete.
    ///
    /// @param text whole characters, at least one
    record Text(String text) implements GenerationEvent {
        @Override
        public void tell(GenerationListener listener) {
            listener.onText(text);
        }
    }

    /// The model moved to another backend or bundle version.
    ///
    /// @param reason what happened
    record Moved(String reason) implements GenerationEvent {
        @Override
        public void tell(GenerationListener listener) {
            listener.onMoved(reason);
        }
    }
}
