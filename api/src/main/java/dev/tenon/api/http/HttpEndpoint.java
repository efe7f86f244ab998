package dev.tenon.api.http;

import java.util.Objects;
import java.util.Set;

/// An end point: which requests it takes, and what answers them.
///
/// @param method `GET`, `POST`, `PUT` or `DELETE`; one for `GET` answers `HEAD`, too
/// @param path such as `/example/count`; one that ends in `/*` means all below it
/// @param open whether it needs no key, where the server has keys
/// @param fields which fields the JSON object of the request may have
/// @param handler answers
public record HttpEndpoint(String method, String path, boolean open, HttpFields fields, HttpHandler handler) {
    private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "DELETE");

    /// Checks method and path.
    ///
    /// @throws IllegalArgumentException if it has another method, or a path that no request has
    public HttpEndpoint {
        Objects.requireNonNull(fields, "fields");
        Objects.requireNonNull(handler, "handler");
        if (!METHODS.contains(method)) {
            throw new IllegalArgumentException("The method is '" + method + "'; expected GET, POST, PUT or DELETE.");
        }
        if (!path.matches("(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+(/\\*)?")) {
            throw new IllegalArgumentException("The path is '" + path
                    + "'; expected segments of letters, digits and . _ ~ - after slashes, and perhaps /* at the end.");
        }
    }

    /// {@return an end point for GET, which takes no body}
    ///
    /// @param path its path
    /// @param handler answers
    public static HttpEndpoint get(String path, HttpHandler handler) {
        return new HttpEndpoint("GET", path, false, HttpFields.none(), handler);
    }

    /// {@return an end point for POST}
    ///
    /// @param path its path
    /// @param fields which fields the JSON object of the request may have
    /// @param handler answers
    public static HttpEndpoint post(String path, HttpFields fields, HttpHandler handler) {
        return new HttpEndpoint("POST", path, false, fields, handler);
    }

    /// {@return the same end point, for requests without a key, too}
    public HttpEndpoint withoutKey() {
        return new HttpEndpoint(method, path, true, fields, handler);
    }
}
