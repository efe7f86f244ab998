package dev.tenon.platform.server;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.metrics.MetricsSource;
import dev.tenon.platform.core.control.EndpointSource;
import dev.tenon.platform.core.control.SharedModel;
import dev.tenon.platform.server.auth.HostCheck;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.HttpServer;
import dev.tenon.platform.server.http.HttpSetup;
import dev.tenon.platform.server.metrics.Metrics;
import dev.tenon.platform.server.models.ModelHost;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.page.Management;
import dev.tenon.platform.server.provided.ProvidedRoutes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/// Answers HTTP requests with the models of an engine: the wire of OpenAI. Safe for any thread.
///
/// ```java
/// try (Engine engine = StandaloneEngine.create(Map.of());
///         TenonServer server = TenonServer.builder(engine)
///                 .model("story", LoadRequest.of(Path.of("model.gguf")))
///                 .port(8080)
///                 .start()) {
///     server.awaitEnd();
/// }
/// ```
public final class TenonServer implements AutoCloseable {
    private static final Duration LOOK_FOR_EXPIRED = Duration.ofSeconds(1);

    private final ModelHost models;
    private final Generations generations;
    private final ProvidedRoutes routes;
    private final HttpServer http;
    private final String address;
    private final boolean takesOver;
    private final ConcurrentMap<String, Object[]> counts;
    private volatile boolean ready;
    private boolean closed;

    private TenonServer(ModelHost models, Generations generations, ServerBuilder options, Metrics metrics) {
        this.models = models;
        this.generations = generations;
        InetSocketAddress where = address(options);
        boolean safe = where.getAddress().isLoopbackAddress() || !options.keys.isEmpty();
        boolean manage = options.manage == null ? safe : options.manage;
        ServerSocketChannel given = options.before == null ? null : listener(options.before, where);
        ModelManager manager = new ModelManager(models, options.store, manage);
        Management management = new Management(manage, manage && safe, options.bundles);
        MetricsSource source = () -> {
            models.list().forEach(model -> ModelGauges.register(metrics, model));
            return metrics.read();
        };
        Optional<EndpointSource> exporters =
                options.engine instanceof EndpointSource installed ? Optional.of(installed) : Optional.empty();
        this.routes = new ProvidedRoutes(options.endpoints, options.engine, generations, options.endpointEnd);
        routes.own(Routes.all(
                manager,
                models,
                generations,
                options,
                source,
                this::isReady,
                Routes.page(options, models, this::isReady, management, routes)));
        try {
            this.http = HttpServer.start(new HttpSetup(
                    new HttpSetup.Socket(where, given, options.keyStore, options.keyStorePassword),
                    new HttpSetup.Access(
                            options.keys, HostCheck.of(where.getAddress(), options.hosts), options.origins),
                    options.limits,
                    routes,
                    request -> {
                        metrics.count(
                                "http_requests_total",
                                "Requests by path and status; 0: the client had left.",
                                Metrics.labels(
                                        "path", request.endpoint(), "status", Integer.toString(request.status())),
                                1);
                        exporters.ifPresent(each -> each.tell(request, source));
                    }));
        } catch (RuntimeException | Error e) {
            routes.close();
            throw e;
        }
        this.takesOver = given != null;
        this.counts = metrics.counts();
        this.address = (options.keyStore == null ? "http://" : "https://") + hostText(where) + ":" + http.port();
        metrics.gauge("http_connections", "Open connections.", "", http::connections);
        exporters.ifPresent(each -> metrics.counter(
                "exporter_dropped_requests_total",
                "Requests that exporters were not told of, because too many waited.",
                "",
                each::untold));
        http.every(LOOK_FOR_EXPIRED, models::unloadExpired);
        http.every(LOOK_FOR_EXPIRED, models::reloadChanged);
    }

    private boolean isReady() {
        return ready && !models.isBroken();
    }

    /// {@return a builder of a server on 127.0.0.1:8080 without models}
    ///
    /// @param engine loads the models; not closed by the server
    public static ServerBuilder builder(Engine engine) {
        return new ServerBuilder(engine);
    }

    /// Begins to listen, then loads the models that are always loaded; the other way round with what another server
    /// listened on.
    static TenonServer start(ServerBuilder options) {
        Metrics metrics = new Metrics(options.metricsPrefix, options.before == null ? null : options.before.counts());
        List<SharedModel> left = options.before == null ? List.of() : options.before.models();
        ModelHost models = new ModelHost(options.engine, options.modelLimits(), options.pinned, options.store, left);
        Generations generations = new Generations(models, metrics);
        TenonServer server;
        try {
            server = new TenonServer(models, generations, options, metrics);
        } catch (RuntimeException | Error e) {
            models.close();
            throw e;
        }
        try {
            models.loadPinned();
            models.loadLeft();
            if (server.takesOver) {
                server.http.takeOver();
            } else if (options.before != null) {
                options.before.listener().close();
            }
            server.ready = true;
            return server;
        } catch (IOException e) {
            server.close();
            throw new TenonException(ErrorCode.IO, "The port before cannot be closed: " + e.getMessage() + ".", e);
        } catch (InterruptedException e) {
            server.close();
            Thread.currentThread().interrupt();
            throw new TenonException(ErrorCode.INTERRUPTED, "The start of the server was interrupted.", e);
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
    }

    private static InetSocketAddress address(ServerBuilder options) {
        try {
            InetAddress address = InetAddress.getByName(options.host);
            if (!address.isLoopbackAddress() && options.keys.isEmpty() && !options.open) {
                throw new TenonException(
                        ErrorCode.USAGE,
                        "Others could use the server at " + options.host + " without a key. Give keys with"
                                + " --api-key-file, or allow it with --no-key.");
            }
            return new InetSocketAddress(address, options.port);
        } catch (UnknownHostException e) {
            throw new TenonException(ErrorCode.CONFIG, "There is no host " + options.host + ". Check --host.", e);
        }
    }

    /// {@return the channel of another server, if it listens where this one shall; else null}
    private static ServerSocketChannel listener(HandOver left, InetSocketAddress where) {
        return left.listener().socket().getLocalSocketAddress() instanceof InetSocketAddress bound
                        && bound.getAddress().equals(where.getAddress())
                        && (where.getPort() == 0 || where.getPort() == bound.getPort())
                ? left.listener()
                : null;
    }

    private static String hostText(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return host.contains(":") ? "[" + host + "]" : host;
    }

    /// {@return the port it listens on}
    public int port() {
        return http.port();
    }

    /// {@return its address, such as `http://127.0.0.1:8080`}
    public String address() {
        return address;
    }

    /// Waits until the server is closed or drained.
    ///
    /// @throws InterruptedException if the thread is interrupted
    public synchronized void awaitEnd() throws InterruptedException {
        while (!closed) {
            wait();
        }
    }

    /// Offers what this server has to one that takes its place; it goes on all the same. Once the other one has
    /// started,
    /// [#retire(Duration)] ends this one.
    ///
    /// @return the listening channel, the loaded models and the counts
    public HandOver handOver() {
        return new HandOver(http.listener(), models.share(), counts);
    }

    /// Accepts no more connections, answers what comes on those that there are, and closes the server, but not what it
    /// listens on.
    ///
    /// @param limit how long to wait for what runs; what still runs then is ended
    public void retire(Duration limit) {
        http.retire();
        await(http::awaitConnections, limit);
        end();
    }

    /// {@return whether it accepts no more connections, since another server takes its place}
    boolean isRetired() {
        return http.isRetired();
    }

    /// Takes no new work, lets what runs end, and closes the server.
    ///
    /// @param limit how long to wait for what runs; what still runs then is ended
    public void drain(Duration limit) {
        drain(Duration.ZERO, limit);
    }

    /// Is not ready at once, takes work for a while nevertheless, and then drains.
    ///
    /// @param delay how long those who ask whether it is ready may take to send their work elsewhere
    /// @param limit how long to wait for what runs then; what still runs after it is ended
    public void drain(Duration delay, Duration limit) {
        ready = false;
        awaitClosed(delay);
        http.drain();
        await(http::awaitRequests, limit);
        end();
    }

    private void end() {
        generations.interruptAll();
        await(http::awaitRequests, Duration.ofSeconds(1));
        close();
    }

    private synchronized void awaitClosed(Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        try {
            for (long left = limit.toNanos(); left > 0 && !closed; left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// A wait that a limit ends.
    @FunctionalInterface
    private interface Wait {
        void upTo(Duration limit) throws InterruptedException;
    }

    private static void await(Wait wait, Duration limit) {
        try {
            wait.upTo(limit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Closes port, connections and models. Calling it twice does nothing.
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            ready = false;
            http.close();
            routes.close();
            generations.interruptAll();
            models.close();
            notifyAll();
        }
    }
}
