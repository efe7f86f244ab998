package dev.tenon.api.chat;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A [ChatRequest] is refused: `MODEL-009` if the model has no template, `GRAMMAR-001` to
/// `GRAMMAR-003` if its format or tools cannot be enforced, otherwise `STATE-002`.
public class ChatException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final Part part;

    /// A part of a request.
    public enum Part {
        /// Its turns.
        TURNS,
        /// Its tools.
        TOOLS,
        /// Whether the reply calls tools.
        TOOL_CHOICE,
        /// What the answer has to be.
        FORMAT,
        /// Whether the last turn is continued.
        CONTINUED
    }

    /// Creates an error.
    ///
    /// @param code error code
    /// @param part which part of the request is refused; never null
    /// @param text what, where, found and expected, what to do; without the code
    /// @param cause what led to it, or null
    public ChatException(String code, Part part, String text, @Nullable Throwable cause) {
        super(code, text, cause);
        this.part = Objects.requireNonNull(part, "part");
    }

    /// {@return the refusal of a value (`STATE-002`)}
    ///
    /// @param part which part of the request is refused
    /// @param text what is wrong and what to do
    public static ChatException invalid(Part part, String text) {
        return new ChatException(ErrorCode.ARGUMENT, part, text, null);
    }

    /// {@return the refusal of a part of a request for the reason of another error, with its code}
    ///
    /// @param part which part of the request is refused
    /// @param cause the other error
    public static ChatException of(Part part, TenonException cause) {
        return new ChatException(cause.code(), part, cause.text(), cause);
    }

    /// {@return which part of the request is refused}
    public final Part part() {
        return part;
    }
}
