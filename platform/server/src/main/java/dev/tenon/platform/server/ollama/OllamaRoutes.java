package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.Route;
import dev.tenon.platform.server.models.ModelManager;
import java.util.ArrayList;
import java.util.List;

/// The paths of Ollama's wire.
public final class OllamaRoutes {
    /// The version of Ollama whose wire this is.
    private static final String VERSION = "0.12.0";

    private static final int NOT_IMPLEMENTED = 501;

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
        add(routes, "POST", "/api/show", new ShowEndpoint(manager));
        add(routes, "POST", "/api/generate", new GenerateEndpoint(manager, replies));
        add(routes, "POST", "/api/chat", new ChatEndpoint(manager, replies));
        add(routes, "POST", "/api/embed", new EmbedEndpoint(manager, replies.generations(), false));
        add(routes, "POST", "/api/embeddings", new EmbedEndpoint(manager, replies.generations(), true));
        add(routes, "POST", "/api/pull", new PullEndpoint(manager));
        add(routes, "POST", "/api/create", new CreateEndpoint(manager));
        add(routes, "POST", "/api/copy", new CopyEndpoint(manager));
        add(routes, "DELETE", "/api/delete", new DeleteEndpoint(manager));
        return routes;
    }

    private static void add(List<Route> routes, String method, String path, OllamaEndpoint endpoint) {
        routes.add(Route.of(method, path, new Known(endpoint)));
    }

    /// An end point that answers with the statuses that Ollama has: what a model cannot do is a wrong request.
    private record Known(OllamaEndpoint endpoint) implements OllamaEndpoint {
        @Override
        public void handle(Exchange exchange) throws InterruptedException {
            try {
                endpoint.handle(exchange);
            } catch (RequestException e) {
                throw e.status() == NOT_IMPLEMENTED
                        ? RequestException.invalid(e.param(), e.getMessage()).because(e)
                        : e;
            }
        }

        @Override
        public ObjectNode error(RequestException error) {
            return endpoint.error(error);
        }
    }
}
