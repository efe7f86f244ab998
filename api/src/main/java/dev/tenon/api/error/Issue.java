package dev.tenon.api.error;

import java.util.Objects;

/// One finding of a check that reports all of its findings, instead of throwing at the first.
///
/// @param severity how bad it is; never null
/// @param code stable code, such as `MODEL-004`; never null
/// @param message what, where, found and expected, what to do; without the code; never null
/// @param source the file, tensor, metadata key or bundle it is about, or an empty string
public record Issue(Severity severity, String code, String message, String source) {
    /// How bad an issue is.
    public enum Severity {
        /// Worth knowing.
        NOTICE,
        /// Something works less well than it could.
        WARNING,
        /// The operation cannot go on.
        ERROR
    }

    /// Checks that nothing is null, and makes one line of the message.
    public Issue {
        Objects.requireNonNull(severity, "severity");
        Objects.requireNonNull(code, "code");
        message = OneLine.of(Objects.requireNonNull(message, "message"));
        Objects.requireNonNull(source, "source");
    }

    /// Creates an issue of severity [Severity#ERROR].
    ///
    /// @param code stable code
    /// @param message text without the code
    /// @param source what it is about
    /// @return the issue
    public static Issue error(String code, String message, String source) {
        return new Issue(Severity.ERROR, code, message, source);
    }
}
