package dev.tenon.platform.server;

import dev.tenon.api.metrics.MetricsSource;
import dev.tenon.platform.server.anthropic.CountTokensEndpoint;
import dev.tenon.platform.server.anthropic.MessagesEndpoint;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Route;
import dev.tenon.platform.server.llamacpp.LlamaRoutes;
import dev.tenon.platform.server.metrics.PrometheusText;
import dev.tenon.platform.server.models.ModelCatalog;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.ollama.OllamaRoutes;
import dev.tenon.platform.server.ollama.RootEndpoint;
import dev.tenon.platform.server.openai.ChatEndpoint;
import dev.tenon.platform.server.openai.CompletionsEndpoint;
import dev.tenon.platform.server.openai.EmbeddingsEndpoint;
import dev.tenon.platform.server.openai.InputTokensEndpoint;
import dev.tenon.platform.server.openai.ModelsEndpoint;
import dev.tenon.platform.server.openai.ResponsesEndpoint;
import dev.tenon.platform.server.page.BundlesEndpoint;
import dev.tenon.platform.server.page.Management;
import dev.tenon.platform.server.page.PageFiles;
import dev.tenon.platform.server.page.PlatformEndpoint;
import dev.tenon.platform.server.page.StatusEndpoint;
import dev.tenon.platform.server.provided.ProvidedRoutes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// The paths of the server.
final class Routes {
    private static final String POST = "POST";
    private static final String GET = "GET";

    private Routes() {}

    /// {@return all routes}
    ///
    /// @param manager changes the models
    /// @param catalog the models
    /// @param generations runs generations
    /// @param options what holds where conversations say nothing, whether metrics need no key, where slots are kept
    /// @param metrics what `/metrics` tells
    /// @param ready whether the server takes work
    /// @param page what the page shows and changes
    static List<Route> all(
            ModelManager manager,
            ModelCatalog catalog,
            Generations generations,
            ServerBuilder options,
            MetricsSource metrics,
            BooleanSupplier ready,
            List<Route> page) {
        Replies replies = new Replies(generations, options.chatDefaults, options.media);
        List<Route> routes = new ArrayList<>(page);
        routes.addAll(ProvidedRoutes.of(new HealthEndpoints(ready)));
        routes.add(new Route(GET, "/metrics", options.openMetrics, exchange -> {
            exchange.text(PrometheusText.CONTENT_TYPE, PrometheusText.of(metrics.read()));
        }));
        Endpoint openAi = new ModelsEndpoint(catalog, generations);
        Endpoint anthropic = new dev.tenon.platform.server.anthropic.ModelsEndpoint(catalog, generations);
        Endpoint models =
                exchange -> (exchange.header("anthropic-version") == null ? openAi : anthropic).handle(exchange);
        versioned(routes, GET, "/models", models);
        versioned(routes, GET, "/models/*", models);
        versioned(routes, POST, "/chat/completions", new ChatEndpoint(replies));
        versioned(routes, POST, "/completions", new CompletionsEndpoint(replies));
        versioned(routes, POST, "/responses", new ResponsesEndpoint(replies));
        versioned(routes, POST, "/responses/input_tokens", new InputTokensEndpoint(replies));
        versioned(routes, POST, "/embeddings", new EmbeddingsEndpoint(generations));
        versioned(routes, POST, "/messages", new MessagesEndpoint(replies));
        versioned(routes, POST, "/messages/count_tokens", new CountTokensEndpoint(replies));
        routes.addAll(LlamaRoutes.all(manager, replies, options.slotFolder));
        routes.addAll(OllamaRoutes.all(manager, replies));
        return List.copyOf(routes);
    }

    /// {@return the routes of the page}
    ///
    /// @param options the engine, and what metrics are called
    /// @param catalog the models
    /// @param ready whether the server takes work
    /// @param management which changes may be asked for
    /// @param provided knows what providers there are
    static List<Route> page(
            ServerBuilder options,
            ModelCatalog catalog,
            BooleanSupplier ready,
            Management management,
            ProvidedRoutes provided) {
        PageFiles files = new PageFiles();
        BundlesEndpoint bundles = new BundlesEndpoint(management, catalog);
        return List.of(
                Route.open("/", new RootEndpoint(files)),
                Route.open("/page/*", files),
                Route.of(
                        GET,
                        "/tenon/status",
                        new StatusEndpoint(catalog, management, ready, options.metricsPrefix, Instant.now())),
                Route.of(GET, "/tenon/platform", new PlatformEndpoint(options.engine, management, provided)),
                Route.of(GET, "/tenon/bundles/changes/*", bundles::follow),
                Route.of(POST, "/tenon/bundles/*", bundles));
    }

    /// Adds a path with and without `/v1` before it.
    private static void versioned(List<Route> routes, String method, String path, Endpoint endpoint) {
        routes.add(Route.of(method, "/v1" + path, endpoint));
        routes.add(Route.of(method, path, endpoint));
    }
}
