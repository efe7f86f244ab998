package dev.tenon.platform.core.generation;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.sampling.StopMatcher;
import dev.tenon.platform.core.steps.TokenSequence;
import java.util.List;

/// Publishes the tokens of a generation and their text, but for what may become a stop text. Used by the thread that
/// drives the steps.
final class TextOutput {
    /// Tokens of the prompt that the decoder gets before the reply: more than enough for the bytes
    /// of a character that the prompt leaves incomplete.
    private static final int DECODED_BEFORE = 64;

    private final Tokenizer tokenizer;
    private final StreamDecoder decoder;
    private final StopMatcher stops;
    private final EventQueue events;

    /// @param tokenizer the model's
    /// @param stop texts that end the generation
    /// @param prompt the prompt, as the continuation of which the reply is decoded
    /// @param events takes tokens and text
    TextOutput(Tokenizer tokenizer, List<String> stop, TokenSequence prompt, EventQueue events) {
        this.tokenizer = tokenizer;
        this.decoder = tokenizer.decoder();
        this.stops = new StopMatcher(stop);
        this.events = events;
        for (int i = Math.max(0, prompt.length() - DECODED_BEFORE); i < prompt.length(); i++) {
            if (prompt.token(i) >= 0) {
                decoder.next(prompt.token(i));
            }
        }
    }

    /// Publishes a token and the text that it ends.
    ///
    /// @return whether a stop text has come
    boolean publish(GeneratedToken token) {
        if (tokenizer.isControl(token.id())) { // text before it is not part of a stop text after it
            text(stops.next(decoder.finish()) + stops.finish());
        }
        events.publish(new GenerationEvent.Token(token));
        text(stops.next(decoder.next(token.id())));
        return stops.matched().isPresent();
    }

    /// Publishes the text that was held back.
    ///
    /// @return what went wrong, or null
    RuntimeException finish() {
        try {
            if (!events.closed() && stops.matched().isEmpty()) {
                text(stops.next(decoder.finish()) + stops.finish());
            }
            return null;
        } catch (RuntimeException e) {
            return e;
        }
    }

    private void text(String piece) {
        if (!piece.isEmpty()) {
            events.publish(new GenerationEvent.Text(piece));
        }
    }
}
