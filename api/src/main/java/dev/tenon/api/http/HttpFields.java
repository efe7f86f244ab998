package dev.tenon.api.http;

import java.util.Set;

/// Which fields the JSON object of a request may have. A field that is null counts as absent.
///
/// @param names those that the end point reads
/// @param others what becomes of others
public record HttpFields(Set<String> names, Others others) {
    /// Copies.
    public HttpFields {
        names = Set.copyOf(names);
    }

    /// What becomes of fields that have no name here.
    public enum Others {
        /// The request is refused with 400, which names the first one.
        REFUSED,
        /// They change nothing; the answer lists them in its header `X-Ignored-Fields`.
        LISTED,
        /// The end point reads the body itself, whatever it is.
        UNREAD
    }

    /// {@return these fields; a request with another one is refused}
    ///
    /// @param names their names
    public static HttpFields only(String... names) {
        return new HttpFields(Set.of(names), Others.REFUSED);
    }

    /// {@return these fields; others change nothing and are listed}
    ///
    /// @param names their names
    public static HttpFields listing(String... names) {
        return new HttpFields(Set.of(names), Others.LISTED);
    }

    /// {@return no fields: there is no body, or the end point reads it itself}
    public static HttpFields none() {
        return new HttpFields(Set.of(), Others.UNREAD);
    }
}
