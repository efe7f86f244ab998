package dev.tenon.platform.bundles.manager;

import dev.tenon.api.error.TenonException;
import org.osgi.framework.BundleException;

/// What failures say to people.
public final class Failures {
    private Failures() {}

    /// {@return the text of an error, for the middle of a sentence}
    ///
    /// @param e the error
    public static String plain(TenonException e) {
        String text = e.text();
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }

    static String innermost(Throwable why) {
        Throwable cause = why;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String text = cause.getMessage() == null ? cause.getClass().getName() : cause.getMessage();
        if (cause instanceof TenonException known) {
            return plain(known);
        }
        boolean ours = cause instanceof BundleException || cause instanceof IllegalStateException;
        return (ours ? text : cause.getClass().getSimpleName() + ": " + text)
                .replaceAll("\\s+", " ")
                .strip();
    }
}
