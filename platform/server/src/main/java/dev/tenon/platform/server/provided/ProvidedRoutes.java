package dev.tenon.platform.server.provided;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpFilter;
import dev.tenon.platform.core.control.EndpointSource;
import dev.tenon.platform.core.control.EndpointSource.Offered;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Route;
import dev.tenon.platform.server.http.RouteTable;
import dev.tenon.platform.server.http.Use;
import dev.tenon.platform.server.http.UsedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The routes of a server: its own, and those of what is installed, which may change at any time.
/// Safe for any thread.
///
/// Whoever asks gets a whole table of one moment. A provider that is taken away is in no table any
/// more when the engine calls [#removed], which returns when no request uses it.
public final class ProvidedRoutes implements Supplier<RouteTable>, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProvidedRoutes.class);

    private final List<Offered> given;
    private final EndpointSource source;
    private final ProvidedEndpoint.Context context;
    private final Duration limit;
    private final Consumer<Object> listener = this::removed;
    /// Those that were asked for what they have. Guarded by this.
    private final Map<Object, Hosted> hosted = new IdentityHashMap<>();

    /// What was told of paths that are not reached. Guarded by this.
    private final Set<String> told = new HashSet<>();
    private List<Route> own = List.of();
    private volatile Made made;

    /// @param given providers that stay as long as the server
    /// @param engine knows what is installed
    /// @param generations finds models, and has their queues
    /// @param limit how long requests may use a provider that is taken away
    public ProvidedRoutes(List<EndpointProvider> given, Engine engine, Generations generations, Duration limit) {
        this.given = given.stream()
                .map(provider -> new Offered(provider, "the program", false))
                .toList();
        this.source = engine instanceof EndpointSource endpoints ? endpoints : null;
        this.context = new ProvidedEndpoint.Context(engine, generations);
        this.limit = limit;
        if (source != null) {
            source.onServiceRemoval(listener);
        }
    }

    /// Sets the server's own routes; once, before it listens.
    ///
    /// @param routes the routes
    public synchronized void own(List<Route> routes) {
        own = List.copyOf(routes);
    }

    /// {@return the routes of a provider that belongs to the server}
    ///
    /// @param provider the provider
    public static List<Route> of(EndpointProvider provider) {
        return provider.endpoints().stream()
                .map(each -> new ProvidedEndpoint(each, null).route(Use.FOREVER))
                .toList();
    }

    /// What a provider has.
    private record Hosted(List<HttpEndpoint> endpoints, List<HttpFilter> filters, Use use) {
        static Hosted of(EndpointProvider provider) {
            return new Hosted(List.copyOf(provider.endpoints()), List.copyOf(provider.filters()), new Use());
        }
    }

    /// A provider with what is reached of it, and what is not.
    ///
    /// @param id the provider's
    /// @param origin the bundle or jar that it comes from
    /// @param reached method and path of each end point that answers
    /// @param shadowed those of the others, since another one has the path
    /// @param filters how many filters it has
    public record Listed(String id, String origin, List<String> reached, List<String> shadowed, int filters) {}

    private record Made(List<Offered> installed, RouteTable table, List<Listed> providers) {}

    @Override
    public RouteTable get() {
        return made().table();
    }

    /// {@return the providers that are used now}
    public List<Listed> providers() {
        return made().providers();
    }

    private List<Offered> installed() {
        return source == null ? List.of() : source.endpoints();
    }

    private Made made() {
        List<Offered> now = installed();
        Made last = made;
        return last != null && last.installed() == now ? last : make();
    }

    private synchronized Made make() {
        List<Offered> installed = installed(); // again: one that is removed meanwhile must not come back
        List<Offered> now = Stream.concat(given.stream(), installed.stream()).toList();
        List<Route> routes = new ArrayList<>();
        List<UsedFilter> filters = new ArrayList<>();
        List<Listed> providers = new ArrayList<>();
        now.stream().filter(Offered::preferred).forEach(each -> add(each, routes, filters, providers));
        routes.addAll(own);
        now.stream().filter(each -> !each.preferred()).forEach(each -> add(each, routes, filters, providers));
        made = new Made(installed, new RouteTable(List.copyOf(routes), List.copyOf(filters)), List.copyOf(providers));
        return made;
    }

    private void add(Offered offered, List<Route> routes, List<UsedFilter> filters, List<Listed> providers) {
        Hosted provider;
        try {
            provider = hosted.computeIfAbsent(offered.provider(), _ -> Hosted.of(offered.provider()));
        } catch (RuntimeException | LinkageError e) {
            LOG.error("The end points of {} cannot be had", offered.origin(), e);
            return;
        }
        List<String> reached = new ArrayList<>();
        List<String> shadowed = new ArrayList<>();
        for (HttpEndpoint endpoint : provider.endpoints()) {
            Route route = new ProvidedEndpoint(endpoint, context).route(provider.use());
            boolean free = routes.stream().noneMatch(before -> before.covers(route));
            (free ? reached : shadowed).add(endpoint.method() + " " + endpoint.path());
            if (free) {
                routes.add(route);
            }
        }
        provider.filters().forEach(filter -> filters.add(new UsedFilter(filter, provider.use())));
        String id = offered.provider().id();
        if (!shadowed.isEmpty() && told.add(offered.origin() + shadowed)) {
            LOG.warn(
                    "{} is not used in full: {} is there already (prefer.endpoint.{} can name the one to use)",
                    offered.origin(),
                    String.join(", ", shadowed),
                    id);
        }
        providers.add(new Listed(
                id, offered.origin(), reached, shadowed, provider.filters().size()));
    }

    private void removed(Object provider) {
        Hosted gone;
        synchronized (this) {
            gone = hosted.remove(provider);
            made = null; // it may be back already
        }
        if (gone != null) {
            gone.use().close(limit);
        }
    }

    /// Hears of no more changes.
    @Override
    public void close() {
        if (source != null) {
            source.offServiceRemoval(listener);
        }
    }
}
