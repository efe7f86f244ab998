package dev.tenon.platform.server.http;

/// Which endpoint answers a path.
///
/// @param method HTTP method
/// @param path the path; one that ends in `/*` means all below it
/// @param open whether it needs no key
/// @param endpoint what answers
/// @param use who uses it
public record Route(String method, String path, boolean open, Endpoint endpoint, Use use) {
    private static final String BELOW = "/*";

    /// One that stays as long as the server.
    public Route(String method, String path, boolean open, Endpoint endpoint) {
        this(method, path, open, endpoint, Use.FOREVER);
    }

    /// {@return a route that needs a key, if there are keys}
    ///
    /// @param method HTTP method
    /// @param path the path
    /// @param endpoint what answers
    public static Route of(String method, String path, Endpoint endpoint) {
        return new Route(method, path, false, endpoint);
    }

    /// {@return a route that needs no key}
    ///
    /// @param path the path, for GET
    /// @param endpoint what answers
    public static Route open(String path, Endpoint endpoint) {
        return new Route("GET", path, true, endpoint);
    }

    /// {@return whether a path is meant, whatever the method}
    ///
    /// @param asked path of a request
    boolean matches(String asked) {
        return path.endsWith(BELOW)
                ? asked.startsWith(prefix()) && asked.length() > prefix().length()
                : asked.equals(path);
    }

    /// {@return whether no request would reach another route after this one}
    ///
    /// @param later the other
    public boolean covers(Route later) {
        boolean all = later.path.endsWith(BELOW);
        return method.equals(later.method)
                && (all ? path.endsWith(BELOW) && later.prefix().startsWith(prefix()) : matches(later.path));
    }

    /// {@return what a path has below the route's own}
    ///
    /// @param asked path of a request
    String rest(String asked) {
        return path.endsWith(BELOW) ? asked.substring(prefix().length()) : "";
    }

    private String prefix() {
        return path.substring(0, path.length() - BELOW.length() + 1);
    }
}
