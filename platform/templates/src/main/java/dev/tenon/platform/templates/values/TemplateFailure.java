package dev.tenon.platform.templates.values;

/// A template that is broken or refuses. The engine turns it into the api's error; it has no stack trace of its own.
public final class TemplateFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// Creates a failure.
    public TemplateFailure(String message) {
        super(message, null, false, false);
    }
}
