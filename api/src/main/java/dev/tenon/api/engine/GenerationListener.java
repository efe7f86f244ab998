package dev.tenon.api.engine;

import java.util.function.Consumer;
import org.osgi.annotation.versioning.ConsumerType;

/// Hears a generation. Called on the thread that called [Session#generate], never while a step
/// waits for it: a slow listener holds up its own generation at most. An exception ends the
/// generation and is passed on.
///
/// A lambda hears the text: `session.generate(request, System.out::print)`.
@ConsumerType
@FunctionalInterface
public interface GenerationListener {
    /// Takes text that has become complete.
    ///
    /// @param text whole characters, at least one; text that may become a stop string is held back
    void onText(String text);

    /// Takes a token; text that becomes complete with it follows.
    ///
    /// @param token the token
    default void onToken(GeneratedToken token) {}

    /// Hears that the prompt is being processed.
    ///
    /// @param done prompt tokens run so far
    /// @param total prompt tokens in all
    default void onPrefill(int done, int total) {}

    /// Hears that the model moved to another backend or bundle version; the generation goes on.
    ///
    /// @param reason what happened
    default void onMoved(String reason) {}

    /// {@return a listener that hears tokens only}
    ///
    /// @param tokens takes them
    static GenerationListener ofTokens(Consumer<GeneratedToken> tokens) {
        return new GenerationListener() {
            @Override
            public void onText(String text) {
                // wanted are the tokens
            }

            @Override
            public void onToken(GeneratedToken token) {
                tokens.accept(token);
            }
        };
    }
}
