package dev.tenon.platform.server.auth;

import java.util.Collection;
import java.util.Set;
import java.util.function.UnaryOperator;

/// From which pages a request may come that changes something or costs work. Browsers say where one comes from by two
/// headers that no script can set; whoever sends neither is no page. Immutable.
public final class OriginCheck {
    private final Set<String> allowed;

    private OriginCheck(Set<String> allowed) {
        this.allowed = allowed;
    }

    /// {@return a check that lets in the server's own page, and some others}
    ///
    /// @param others origins of pages, exactly as browsers send them
    public static OriginCheck of(Collection<String> others) {
        return new OriginCheck(Set.copyOf(others));
    }

    /// {@return whether pages of an origin were allowed by name}
    ///
    /// @param origin as browsers send it, or null
    public boolean allows(String origin) {
        return origin != null && allowed.contains(origin);
    }

    /// {@return whether a request comes from the server's own page, from one that is allowed, or from no page}
    ///
    /// @param headers gives the value of a header, or null
    public boolean allows(UnaryOperator<String> headers) {
        return isOwn(headers) || allows(headers.apply("Origin"));
    }

    /// {@return whether a request comes from the server's own page, or from no page}
    ///
    /// @param headers gives the value of a header, or null
    public static boolean isOwn(UnaryOperator<String> headers) {
        String site = headers.apply("Sec-Fetch-Site");
        if (site != null) {
            return site.equals("same-origin") || site.equals("none");
        }
        String origin = headers.apply("Origin");
        String host = headers.apply("Host");
        return origin == null || origin.equals("http://" + host) || origin.equals("https://" + host);
    }
}
