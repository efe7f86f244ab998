package dev.tenon.api.http;

import org.jspecify.annotations.Nullable;

/// A request that is refused, with the HTTP status and the fields of the error's body.
public final class RequestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int NOT_IMPLEMENTED = 501;

    private final int status;
    private final String type;
    private final String code;
    private final @Nullable String param;
    private final int retryAfterSeconds;

    private RequestException(
            int status,
            String type,
            String code,
            @Nullable String param,
            int retryAfterSeconds,
            String text,
            @Nullable Throwable cause) {
        super(text, cause);
        this.status = status;
        this.type = type;
        this.code = code;
        this.param = param;
        this.retryAfterSeconds = retryAfterSeconds;
    }

    /// {@return a refusal}
    ///
    /// @param status HTTP status
    /// @param type kind of error, such as `authentication_error`
    /// @param code what programs decide on
    /// @param text what is wrong and what to do
    public static RequestException of(int status, String type, String code, String text) {
        return new RequestException(status, type, code, null, 0, text, null);
    }

    /// {@return the refusal of a value of the request, with status 400}
    ///
    /// @param param name of the field, or null
    /// @param text what is wrong and what to do
    public static RequestException invalid(@Nullable String param, String text) {
        return new RequestException(BAD_REQUEST, "invalid_request_error", "invalid_value", param, 0, text, null);
    }

    /// {@return the refusal of a request that is more than a limit allows, with status 400}
    ///
    /// @param param name of the field, or null
    /// @param code what programs decide on
    /// @param text what is wrong and what to do
    public static RequestException tooMuch(@Nullable String param, String code, String text) {
        return new RequestException(BAD_REQUEST, "invalid_request_error", code, param, 0, text, null);
    }

    /// {@return the refusal of a request for something that is not there, with status 404}
    ///
    /// @param code what programs decide on
    /// @param text what is wrong and what to do
    public static RequestException notFound(String code, String text) {
        return new RequestException(NOT_FOUND, "not_found_error", code, null, 0, text, null);
    }

    /// {@return the refusal of something that this server or model cannot do, with status 501}
    ///
    /// @param param name of the field, or null
    /// @param text what cannot be done and what to do instead
    public static RequestException unsupported(@Nullable String param, String text) {
        return new RequestException(NOT_IMPLEMENTED, "not_supported_error", "not_supported", param, 0, text, null);
    }

    /// {@return the refusal of a request that may succeed later}
    ///
    /// @param status HTTP status, 429 or 503
    /// @param type kind of error
    /// @param code what programs decide on
    /// @param text what is wrong
    /// @param retryAfterSeconds when to try again
    public static RequestException later(int status, String type, String code, String text, int retryAfterSeconds) {
        return new RequestException(status, type, code, null, retryAfterSeconds, text, null);
    }

    /// {@return the same refusal with its cause}
    ///
    /// @param cause what led to it
    public RequestException because(Throwable cause) {
        return new RequestException(status, type, code, param, retryAfterSeconds, getMessage(), cause);
    }

    /// {@return HTTP status}
    public int status() {
        return status;
    }

    /// {@return kind of error}
    public String type() {
        return type;
    }

    /// {@return what programs decide on}
    public String code() {
        return code;
    }

    /// {@return the field that is refused, or null}
    public @Nullable String param() {
        return param;
    }

    /// {@return seconds after which the request may succeed; 0 when that is not known}
    public int retryAfterSeconds() {
        return retryAfterSeconds;
    }
}
