package dev.tenon.api.engine;

import org.osgi.annotation.versioning.ConsumerType;

/// Hears a generation. Called on the thread that called [Session#generate], between steps; an exception
/// ends the
/// generation and
/// is passed on.
@ConsumerType
public interface GenerationListener {
    /// Takes a token and the text that became complete with it.
    ///
    /// @param token token id
    /// @param text whole characters, possibly none; text that may become a stop string is held back
    void onToken(int token, String text);

    /// Hears that the prompt is being processed.
    ///
    /// @param done prompt tokens run so far
    /// @param total prompt tokens in all
    default void onPrefill(int done, int total) {}

    /// Hears that the model moved to another backend or bundle version; generation goes on.
    ///
    /// @param reason what happened
    default void onMoved(String reason) {}
}
