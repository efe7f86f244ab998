package dev.tenon.platform.server.http;

import java.util.List;
import java.util.Optional;

/// What a server answers at one moment. Immutable.
///
/// @param routes the first one that fits answers
/// @param filters see each request before it is answered
public record RouteTable(List<Route> routes, List<UsedFilter> filters) {
    /// {@return the route of a request}
    ///
    /// @param method its method
    /// @param path its path
    Optional<Route> find(String method, String path) {
        String wanted = method.equals("HEAD") ? "GET" : method;
        return routes.stream()
                .filter(route -> route.matches(path) && route.method().equals(wanted))
                .findFirst();
    }

    /// {@return a route of a path, whatever the method}
    ///
    /// @param path the path
    Optional<Route> at(String path) {
        return routes.stream().filter(route -> route.matches(path)).findFirst();
    }
}
