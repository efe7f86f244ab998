package dev.tenon.platform.server.http;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/// Listens on a port and answers requests, each on a virtual thread of its own. Safe for any thread.
public final class HttpServer implements AutoCloseable {
    private static final int MOST_THREADS = 16;
    private static final int LEAST_THREADS = 2;
    private static final long SWEEP_MILLIS = 500;

    private final Server server;
    private final ListeningConnector connector;
    private final Connections connections;
    private final ScheduledExecutorService clock;
    private final AtomicBoolean draining = new AtomicBoolean();
    private final AtomicBoolean retired = new AtomicBoolean();
    private final Dispatcher dispatcher;

    private HttpServer(Server server, HttpSetup setup) {
        HttpLimits limits = setup.limits();
        this.server = server;
        this.clock = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("tenon-http-clock").factory());
        this.connections = new Connections(limits);
        this.connector = new ListeningConnector(
                server, setup.socket().address(), setup.socket().listener(), factories(setup));
        connector.setIdleTimeout(limits.idleTime().toMillis());
        connector.addBean(connections);
        connector.setAccepting(setup.socket().listener() == null);
        server.addConnector(connector);
        this.dispatcher = new Dispatcher(setup, connections, clock, draining, retired);
        server.setHandler(dispatcher);
        server.setErrorHandler(new PlainErrors());
        server.setStopTimeout(0);
    }

    private static ConnectionFactory[] factories(HttpSetup setup) {
        HttpConfiguration config = new HttpConfiguration();
        config.setSendServerVersion(false);
        config.setSendDateHeader(true);
        config.setRequestHeaderSize(setup.limits().headerBytes());
        HttpConnectionFactory http = new HttpConnectionFactory(config);
        if (setup.socket().keyStore() == null) {
            return new ConnectionFactory[] {http};
        }
        config.addCustomizer(new SecureRequestCustomizer(false));
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setKeyStore(keyStore(setup.socket().keyStore(), setup.socket().keyStorePassword()));
        tls.setKeyStorePassword(setup.socket().keyStorePassword());
        return new ConnectionFactory[] {new SslConnectionFactory(tls, http.getProtocol()), http};
    }

    private static KeyStore keyStore(Path file, String password) {
        try {
            return KeyStore.getInstance(file.toFile(), password == null ? null : password.toCharArray());
        } catch (IOException | GeneralSecurityException e) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "The key store " + file + " cannot be opened: " + e.getMessage()
                            + ". Check --tls-key-store, and the password in serve.tls-password.",
                    e);
        }
    }

    /// Begins to listen. With a channel that was given no connection is accepted before [#takeOver()].
    ///
    /// @param setup where, and what is answered
    /// @return the server; the caller closes it
    /// @throws TenonException (`IO-001`) if the address cannot be taken
    public static HttpServer start(HttpSetup setup) {
        QueuedThreadPool threads = new QueuedThreadPool(MOST_THREADS, LEAST_THREADS);
        threads.setName("tenon-http");
        threads.setDaemon(true);
        threads.setVirtualThreadsExecutor(Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("tenon-request-", 0).factory()));
        HttpServer http = new HttpServer(new Server(threads), setup);
        try {
            http.server.start();
        } catch (Exception e) {
            http.close();
            throw new TenonException(
                    ErrorCode.IO,
                    "The server cannot listen on " + setup.socket().address() + ": " + reason(e)
                            + ". Choose another port with --port, or end what uses it.",
                    e);
        }
        http.clock.scheduleWithFixedDelay(
                http.connections::closeLate, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
        return http;
    }

    private static String reason(Throwable e) {
        Throwable last = e;
        while (last.getCause() != null) {
            last = last.getCause();
        }
        return last.getMessage() == null ? last.getClass().getSimpleName() : last.getMessage();
    }

    /// {@return the port it listens on}
    public int port() {
        return connector.getLocalPort();
    }

    /// Waits until no request is being answered.
    ///
    /// @param limit how long at most
    /// @throws InterruptedException if the thread is interrupted
    public void awaitRequests(Duration limit) throws InterruptedException {
        dispatcher.active().awaitNone(limit);
    }

    /// Waits until no connection is open.
    ///
    /// @param limit how long at most
    /// @throws InterruptedException if the thread is interrupted
    public void awaitConnections(Duration limit) throws InterruptedException {
        connections.count().awaitNone(limit);
    }

    /// {@return number of open connections}
    public int connections() {
        return connections.count().get();
    }

    /// {@return number of requests that are being answered}
    int requests() {
        return dispatcher.active().get();
    }

    /// {@return the channel that listens}
    public ServerSocketChannel listener() {
        return connector.channel();
    }

    /// Accepts connections of a channel that was given, and becomes its owner.
    public void takeOver() {
        connector.own(true);
        connector.setAccepting(true);
    }

    /// Leaves the listening channel to another server: accepts no more connections, and ends those that there are with
    /// their next answer, or after five seconds without a request.
    public void retire() {
        retired.set(true);
        connector.own(false);
        try {
            connector.stopAccepting();
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "The server cannot stop to accept: " + reason(e) + ".", e);
        }
        connections.retire();
    }

    /// {@return whether [#retire()] was called}
    public boolean isRetired() {
        return retired.get();
    }

    /// Refuses new work from now on with 503, but for routes without a key.
    public void drain() {
        draining.set(true);
    }

    /// Calls a task again and again, on a thread that must not be held up.
    ///
    /// @param task what
    /// @param pause between two calls
    public void every(Duration pause, Runnable task) {
        clock.scheduleWithFixedDelay(task, pause.toNanos(), pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    /// Closes port and connections. Calling it twice does nothing.
    @Override
    public void close() {
        clock.shutdownNow();
        try {
            server.stop();
        } catch (Exception e) {
            throw new TenonException(ErrorCode.IO, "The server cannot be stopped: " + reason(e) + ".", e);
        }
    }

    /// Answers requests that are no HTTP, or exceed a limit of HTTP, with an error as JSON.
    private static final class PlainErrors extends ErrorHandler {
        @Override
        public ByteBuffer badMessageError(int status, String reason, org.eclipse.jetty.http.HttpFields.Mutable fields) {
            fields.put(HttpHeader.CONTENT_TYPE, "application/json");
            return ByteBuffer.wrap(body(status));
        }

        @Override
        protected void generateResponse(
                org.eclipse.jetty.server.Request request,
                org.eclipse.jetty.server.Response response,
                int code,
                String message,
                Throwable cause,
                org.eclipse.jetty.util.Callback callback)
                throws IOException {
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
            response.write(true, ByteBuffer.wrap(body(code)), callback);
        }

        private static byte[] body(int status) {
            return Json.bytes(NOTHING.error(RequestException.of(
                    status, "invalid_request_error", "bad_request", "The request is refused by its form or size.")));
        }

        private static final Endpoint NOTHING = exchange -> {};
    }
}
