package dev.tenon.api.error;

/// A limit was reached: device memory, KV cache pages, the context length. The engine stays usable.
public class OutOfResourcesException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final long asked;
    private final long used;
    private final long limit;

    /// Creates an error.
    ///
    /// @param code error code
    /// @param text what, where, found and expected, what to do
    /// @param asked how much was asked for (unit as said in the text)
    /// @param used how much was in use
    /// @param limit how much there is
    public OutOfResourcesException(String code, String text, long asked, long used, long limit) {
        super(code, text);
        this.asked = asked;
        this.used = used;
        this.limit = limit;
    }

    /// {@return how much was asked for}
    public final long asked() {
        return asked;
    }

    /// {@return how much was in use}
    public final long used() {
        return used;
    }

    /// {@return how much there is in all}
    public final long limit() {
        return limit;
    }
}
