package dev.tenon.platform.server.llamacpp;

import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Route;
import dev.tenon.platform.server.models.ModelManager;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The paths that llama.cpp's server has besides those of OpenAI's wire.
public final class LlamaRoutes {
    private static final String GET = "GET";
    private static final String POST = "POST";

    private LlamaRoutes() {}

    /// {@return the routes}
    ///
    /// @param manager loads and unloads models
    /// @param replies continues texts
    /// @param slotFolder where slots are kept; null where they are not
    public static List<Route> all(ModelManager manager, Replies replies, Path slotFolder) {
        SlotEndpoints slots = new SlotEndpoints(replies.generations(), slotFolder);
        StatusEndpoints status = new StatusEndpoints(replies);
        TextEndpoints texts = new TextEndpoints(replies);
        Endpoint rerank = new RerankEndpoint(replies.generations());
        Endpoint load = new LoadEndpoint(manager, true);
        Endpoint unload = new LoadEndpoint(manager, false);
        List<Route> routes = new ArrayList<>();
        routes.add(Route.of(GET, "/props", status::props));
        routes.add(Route.of(GET, "/slots", status::slots));
        routes.add(Route.of(POST, "/slots/*", slots::handle));
        AdapterEndpoints adapters = new AdapterEndpoints(manager, replies);
        routes.add(Route.of(GET, "/lora-adapters", adapters::list));
        routes.add(Route.of(POST, "/lora-adapters", adapters::set));
        routes.add(Route.of(POST, "/tokenize", texts::tokenize));
        routes.add(Route.of(POST, "/detokenize", texts::detokenize));
        routes.add(Route.of(POST, "/apply-template", texts::applyTemplate));
        CompletionEndpoint completions = new CompletionEndpoint(replies, slots);
        routes.add(Route.of(POST, "/completion", completions));
        routes.add(Route.of(POST, "/infill", new InfillEndpoint(completions)));
        for (String path : List.of("/rerank", "/v1/rerank", "/reranking", "/v1/reranking")) {
            routes.add(Route.of(POST, path, rerank));
        }
        for (String version : List.of("", "/v1")) {
            routes.add(Route.of(POST, version + "/models/load", load));
            routes.add(Route.of(POST, version + "/models/unload", unload));
        }
        return routes;
    }
}
