package dev.tenon.api.error;

import org.jspecify.annotations.Nullable;

/// A model file is broken: not GGUF, cut short, contradictory, or it lacks something that its architecture
/// needs.
public class ModelFormatException extends TenonException {
    private static final long serialVersionUID = 1L;

    /// Creates an error; see [TenonException#TenonException(String, String)].
    ///
    /// @param code error code
    /// @param text what, where, found and expected, what to do
    public ModelFormatException(String code, String text) {
        super(code, text);
    }

    /// Creates an error with a cause.
    ///
    /// @param code error code
    /// @param text what, where, found and expected, what to do
    /// @param cause what led to it, or null
    public ModelFormatException(String code, String text, @Nullable Throwable cause) {
        super(code, text, cause);
    }
}
