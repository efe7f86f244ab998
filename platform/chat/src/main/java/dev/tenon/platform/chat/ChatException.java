package dev.tenon.platform.chat;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;

/// A conversation, or what is asked of its reply, is refused, and why.
public final class ChatException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final String field;

    ChatException(String code, String field, String text, Throwable cause) {
        super(code, text, cause);
        this.field = field;
    }

    /// {@return the refusal of a value}
    ///
    /// @param field which part of the request is meant, by the name that it has on OpenAI's wire
    /// @param text what is wrong and what to do
    static ChatException invalid(String field, String text) {
        return new ChatException(ErrorCode.ARGUMENT, field, text, null);
    }

    /// {@return the refusal of a part of the request, for the reason of another error}
    ///
    /// @param field which part is meant
    /// @param cause the other error
    static ChatException of(String field, TenonException cause) {
        String text = cause.getMessage();
        String code = " [" + cause.code() + "]";
        return new ChatException(
                cause.code(),
                field,
                text.endsWith(code) ? text.substring(0, text.length() - code.length()) : text,
                cause);
    }

    /// {@return which part of the request is meant, by the name that it has on OpenAI's wire}
    public String field() {
        return field;
    }
}
