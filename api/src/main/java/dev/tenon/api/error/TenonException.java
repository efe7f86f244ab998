package dev.tenon.api.error;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Base of every error that Tenon raises on purpose.
///
/// The message says what went wrong, where, what was found and expected and what to do, and ends
/// with the code in brackets, so that a log line can be looked up in `docs/errors.md`. It is one
/// line, whatever names and values of a file it quotes: control characters are written as escapes,
/// and the middle of a very long text is left out. Programs decide on [#code()], people read
/// [#getMessage()].
public class TenonException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String code;
    private final String text;

    /// Creates an error.
    ///
    /// @param code a code from [ErrorCode] or a bundle's own, such as `GGUF-003`; never null
    /// @param text one or more sentences without the code; never null
    public TenonException(String code, String text) {
        this(code, text, null);
    }

    /// Creates an error with a cause.
    ///
    /// @param code a code from [ErrorCode] or a bundle's own; never null
    /// @param text one or more sentences without the code; never null
    /// @param cause what led to it, or null
    public TenonException(String code, String text, @Nullable Throwable cause) {
        String line = OneLine.of(Objects.requireNonNull(text, "text"));
        super(line + " [" + Objects.requireNonNull(code, "code") + "]", cause);
        this.code = code;
        this.text = line;
    }

    /// {@return the stable code of this kind of error, such as `GGUF-003`}
    public final String code() {
        return code;
    }

    /// {@return the message without the code at its end: to be part of another message}
    public final String text() {
        return text;
    }
}
