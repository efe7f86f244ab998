package dev.tenon.platform.server.ollama;

import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Json;
import dev.tenon.platform.server.http.Route;
import dev.tenon.platform.server.models.ModelManager;
import java.util.ArrayList;
import java.util.List;

/// The paths of Ollama's wire.
public final class OllamaRoutes {
    /// The version of Ollama whose wire this is.
    private static final String VERSION = "0.12.0";

    private OllamaRoutes() {}

    /// {@return the routes}
    ///
    /// @param manager has and changes the models
    /// @param replies answers and continues
    public static List<Route> all(ModelManager manager, Replies replies) {
        ListEndpoints lists = new ListEndpoints(manager);
        List<Route> routes = new ArrayList<>();
        add(
                routes,
                "GET",
                "/api/version",
                exchange -> exchange.json(Json.object().put("version", VERSION)));
        add(routes, "GET", "/api/tags", lists::tags);
        add(routes, "GET", "/api/ps", lists::loaded);
        add(routes, "POST", "/api/pull", new PullEndpoint(manager));
        add(routes, "DELETE", "/api/delete", new DeleteEndpoint(manager));
        return routes;
    }

    private static void add(List<Route> routes, String method, String path, OllamaEndpoint endpoint) {
        routes.add(Route.of(method, path, endpoint));
    }
}
