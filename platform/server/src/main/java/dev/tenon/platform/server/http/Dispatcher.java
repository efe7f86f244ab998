package dev.tenon.platform.server.http;

import dev.tenon.api.chat.ChatException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.PromptText;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.auth.HostCheck;
import dev.tenon.platform.server.auth.OriginCheck;
import dev.tenon.platform.server.queue.QueueFullException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes each request to the endpoint of its route: checks host and key, turns failures into errors, writes the access
/// log.
final class Dispatcher extends Handler.Abstract {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);
    private static final Logger ACCESS = LoggerFactory.getLogger("dev.tenon.platform.server.access");
    private static final String REQUEST_ID = "X-Request-Id";
    private static final String EXPOSED = "X-Request-Id, Request-Id, Retry-After";
    private static final String BEARER = "Bearer ";
    private static final int BAD_REQUEST = 400;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int INTERNAL = 500;
    private static final int UNAVAILABLE = 503;

    /// What the errors of requests look like that no endpoint got.
    private static final Endpoint NOBODY = exchange -> {};

    private final Supplier<RouteTable> routes;
    private final ApiKeys keys;
    private final HostCheck hosts;
    private final OriginCheck origins;
    private final HttpLimits limits;
    private final Connections connections;
    private final ScheduledExecutorService clock;
    private final RequestObserver observer;
    private final AtomicBoolean draining;
    /// Whether each answer ends its connection.
    private final AtomicBoolean retired;
    private final Count active = new Count();

    Dispatcher(
            HttpSetup setup,
            Connections connections,
            ScheduledExecutorService clock,
            AtomicBoolean draining,
            AtomicBoolean retired) {
        this.routes = setup.routes();
        this.keys = setup.access().keys();
        this.hosts = setup.access().hosts();
        this.origins = OriginCheck.of(setup.access().origins());
        this.limits = setup.limits();
        this.observer = setup.observer();
        this.connections = connections;
        this.clock = clock;
        this.draining = draining;
        this.retired = retired;
    }

    /// {@return the requests that are being answered}
    Count active() {
        return active;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        active.add(1);
        try {
            Throwable lost = answered(request, response);
            if (lost == null) {
                callback.succeeded();
            } else {
                callback.failed(lost);
            }
            return true;
        } finally {
            active.add(-1);
        }
    }

    /// Answers a request.
    ///
    /// @return null, or why the answer did not reach the client
    private Throwable answered(Request request, Response response) {
        Connection connection = request.getConnectionMetaData().getConnection();
        connections.busy(connection, true);
        try {
            answer(request, response);
            return null;
        } catch (UncheckedIOException e) {
            return e; // the client has left, or does not read
        } finally {
            connections.busy(connection, false);
        }
    }

    private void answer(Request request, Response response) {
        long begin = System.nanoTime();
        String path = Request.getPathInContext(request);
        String given = request.getHeaders().get(REQUEST_ID);
        String id = given != null && given.matches("[A-Za-z0-9._:-]{1,128}")
                ? given
                : UUID.randomUUID().toString().replace("-", "");
        response.getHeaders().put(REQUEST_ID, id);
        response.getHeaders().put("Request-Id", id); // the name that Anthropic's clients look for
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
        if (retired.get()) {
            response.getHeaders().put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE.asString());
        }
        Found found = find(request.getMethod(), path);
        Optional<Route> route = found.route();
        Endpoint endpoint = route.or(() -> found.table().at(path))
                .map(Route::endpoint)
                .orElse(NOBODY); // of another method: errors have the form of the path
        String key = key(request);
        String group = keys.nameOf(key).orElse("");
        Exchange exchange = new Exchange(request, response, id, route.orElse(null), group, limits, clock);
        List<UsedFilter> passed = new ArrayList<>();
        Throwable failure = null;
        try {
            if (!preflight(request, response)) {
                check(request, path, found, group);
                for (UsedFilter filter : found.table().filters()) {
                    filter.before(exchange);
                    passed.add(filter);
                }
                endpoint.handle(exchange);
            }
        } catch (InterruptedException e) {
            failure = e;
            if (!exchange.clientLeft()) {
                exchange.fail(unavailable(), endpoint);
            }
        } catch (UncheckedIOException e) {
            failure = e;
            throw e;
        } catch (RuntimeException | Error e) {
            failure = e;
            exchange.fail(error(e, id, exchange), endpoint);
        } finally {
            exchange.end();
            // Many leave as soon as they have read a whole answer.
            boolean left = failure != null && exchange.clientLeft() || failure instanceof UncheckedIOException;
            long nanos = System.nanoTime() - begin;
            int status = left ? 0 : exchange.status();
            observer.ended(exchange.finished(status, Duration.ofNanos(nanos)));
            passed.forEach(filter -> filter.after(exchange, status, nanos));
            route.ifPresent(taken -> taken.use().end());
            if (ACCESS.isInfoEnabled()) {
                ACCESS.info(
                        "{} {} {} {} {} ms{}",
                        id,
                        request.getMethod(),
                        Exchange.printable(path),
                        left ? "left" : exchange.status(),
                        nanos / 1_000_000,
                        exchange.note());
            }
        }
    }

    /// The table of the moment and the route that was found in it, whose use has begun.
    private record Found(RouteTable table, Optional<Route> route) {}

    private Found find(String method, String path) {
        while (true) {
            RouteTable table = routes.get();
            Optional<Route> route = table.find(method, path);
            if (route.isEmpty() || route.get().use().begin()) {
                return new Found(table, route);
            }
            // It was taken away in between, and is in no table any more.
        }
    }

    /// Answers what a browser asks before a request of a page of another origin.
    ///
    /// @return whether it was such a question
    private boolean preflight(Request request, Response response) {
        String origin = request.getHeaders().get(HttpHeader.ORIGIN);
        if (!origins.allows(origin)) {
            return false;
        }
        response.getHeaders().put("Access-Control-Allow-Origin", origin);
        response.getHeaders().put(HttpHeader.VARY, "Origin");
        response.getHeaders().put("Access-Control-Expose-Headers", EXPOSED);
        if (!request.getMethod().equals(HttpMethod.OPTIONS.asString())) {
            return false;
        }
        response.getHeaders().put("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
        String asked = request.getHeaders().get("Access-Control-Request-Headers");
        response.getHeaders().put("Access-Control-Allow-Headers", asked == null ? "Authorization" : asked);
        response.setStatus(204);
        return true;
    }

    private void check(Request request, String path, Found found, String group) {
        Optional<Route> route = found.route();
        if (!hosts.allows(Request.getServerName(request))) {
            throw RequestException.of(
                    FORBIDDEN,
                    "permission_error",
                    "host_not_allowed",
                    "This server does not answer to that name. Name it with --allowed-hosts.");
        }
        if (!HttpMethod.GET.is(request.getMethod())
                && !HttpMethod.HEAD.is(request.getMethod())
                && !origins.allows(request.getHeaders()::get)) {
            throw RequestException.of(
                    FORBIDDEN,
                    "permission_error",
                    "other_origin",
                    "A page of another origin asks, which this server does not answer. Name it with --cors-origins.");
        }
        if (!keys.isEmpty() && group.isEmpty() && !route.map(Route::open).orElse(false)) {
            throw RequestException.of(
                    UNAUTHORIZED,
                    "authentication_error",
                    "invalid_api_key",
                    "The key is missing or wrong. Send it as 'Authorization: Bearer KEY'.");
        }
        if (route.isEmpty()) {
            if (found.table().at(path).isPresent()) {
                throw RequestException.of(
                        METHOD_NOT_ALLOWED,
                        "invalid_request_error",
                        "method_not_allowed",
                        "This path has another method than " + Exchange.printable(request.getMethod()) + ".");
            }
            throw RequestException.notFound("not_found", "There is nothing at " + Exchange.printable(path) + ".");
        }
        if (draining.get() && !route.get().open()) {
            throw unavailable();
        }
    }

    private static RequestException unavailable() {
        return RequestException.later(
                UNAVAILABLE, "unavailable_error", "shutting_down", "The server ends. Ask another one, or later.", 5);
    }

    private static String key(Request request) {
        String authorization = request.getHeaders().get(HttpHeader.AUTHORIZATION);
        return authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? authorization.substring(BEARER.length()).strip()
                : request.getHeaders().get("X-Api-Key");
    }

    private static RequestException refused(ChatException e) {
        String field = switch (e.part()) {
            case TURNS -> "messages";
            case TOOLS -> "tools";
            case TOOL_CHOICE -> "tool_choice";
            case FORMAT -> "format";
            case CONTINUED -> "continue_final_message";
        };
        RequestException refusal = switch (e.code()) {
            case ErrorCode.MODEL_TEMPLATE -> RequestException.unsupported(field, e.getMessage());
            case ErrorCode.GRAMMAR_SYNTAX, ErrorCode.GRAMMAR_UNSUPPORTED, ErrorCode.GRAMMAR_LIMIT ->
                RequestException.tooMuch(field, "unsupported_grammar", e.getMessage());
            default -> RequestException.invalid(field, e.getMessage());
        };
        return refusal.because(e);
    }

    /// What a failure becomes; one that is no fault of the request is logged, and told without details.
    private static RequestException error(Throwable failure, String id, Exchange exchange) {
        return switch (failure) {
            case RequestException e -> e;
            case ChatException e -> refused(e);
            case TenonException e
            when e.code().equals(ErrorCode.INTERRUPTED) && !exchange.clientLeft() ->
                unavailable().because(e);
            case QueueFullException e ->
                RequestException.later(
                                UNAVAILABLE,
                                "unavailable_error",
                                "queue_full",
                                "The queue is full: " + e.getMessage() + ". Try again later.",
                                2)
                        .because(e);
            case PromptText.TooLong e ->
                RequestException.tooMuch(e.field(), "context_length_exceeded", e.getMessage())
                        .because(e);
            case OutOfResourcesException e
            when e.code().equals(ErrorCode.CONTEXT_LENGTH) ->
                RequestException.of(BAD_REQUEST, "invalid_request_error", "context_length_exceeded", e.getMessage())
                        .because(e);
            case OutOfResourcesException e ->
                RequestException.later(UNAVAILABLE, "unavailable_error", "overloaded", e.getMessage(), 1)
                        .because(e);
            case TenonException e
            when e.code().equals(ErrorCode.GRAMMAR_LIMIT) || e.code().equals(ErrorCode.GRAMMAR_UNSUPPORTED) ->
                RequestException.tooMuch(null, "unsupported_grammar", e.getMessage())
                        .because(e);
            case TenonException e
            when e.code().equals(ErrorCode.MODEL_TEMPLATE) || e.code().equals(ErrorCode.ARGUMENT) ->
                RequestException.invalid(null, e.getMessage()).because(e);
            default -> {
                LOG.warn("Request {} failed", id, failure);
                String text = failure instanceof TenonException e
                        ? e.getMessage()
                        : "The request failed; the server's log has the reason under " + id + ".";
                yield RequestException.of(INTERNAL, "server_error", "internal_error", text)
                        .because(failure);
            }
        };
    }
}
