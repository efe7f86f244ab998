package dev.tenon.platform.templates;

import com.hubspot.jinjava.interpret.InterpretException;

/// A template that is broken or refuses; passes through the engine's nodes unchanged and becomes the api's
/// error at the
/// border. Has no stack trace of its own.
final class TemplateFailure extends InterpretException {
    private static final long serialVersionUID = 1L;

    private final String text;

    /// Creates a failure.
    ///
    /// @param text what went wrong
    TemplateFailure(String text) {
        super(text);
        this.text = text;
    }

    /// {@return what went wrong}
    String text() {
        return text;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
