package dev.tenon.platform.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.auth.HostCheck;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What becomes of requests whose end point fails badly, or whose client leaves early. The limit on time ends a hang.
@Timeout(60)
class DispatcherTests {
    /// An end point that fails, and cannot even say so.
    private static final class Broken implements Endpoint {
        @Override
        public void handle(Exchange exchange) {
            throw new IllegalStateException("broken");
        }

        @Override
        public ObjectNode error(RequestException error) {
            throw new AssertionError("no words for it");
        }
    }

    private static HttpServer server(RouteTable table, RequestObserver observer) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        return HttpServer.start(new HttpSetup(
                HttpSetup.Socket.plain(address),
                new HttpSetup.Access(ApiKeys.none(), HostCheck.of(address.getAddress(), List.of()), List.of()),
                HttpLimits.defaults(),
                () -> table,
                observer));
    }

    @Test
    void aClientThatLeavesWithItsAnswerHasGotIt() throws Exception {
        Endpoint watched = exchange -> {
            exchange.interruptWhenClientLeaves();
            exchange.json(Json.object());
            while (!exchange.clientLeft()) {
                Thread.onSpinWait();
            }
        };
        BlockingQueue<FinishedRequest> ended = new LinkedBlockingQueue<>();
        RouteTable table = new RouteTable(List.of(Route.of("GET", "/watched", watched)), List.of());
        try (HttpServer server = server(table, ended::add);
                HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + server.port() + "/watched");
            client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
            assertEquals(200, ended.take().status());
        }
    }

    @Test
    void aRequestThatFailsIsNotCountedForEver() throws Exception {
        Endpoint dies = exchange -> {
            throw new InternalError("a page of a mapped file is gone");
        };
        RouteTable table = new RouteTable(
                List.of(Route.of("GET", "/broken", new Broken()), Route.of("GET", "/dies", dies)), List.of());
        try (HttpServer server = server(table, request -> {});
                HttpClient client = HttpClient.newHttpClient()) {
            for (String path : List.of("/broken", "/dies")) {
                URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
                HttpResponse<String> answer =
                        client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
                assertEquals(500, answer.statusCode());
                assertTrue(!answer.body().contains("Error: "), answer::body);
            }
            server.awaitRequests(Duration.ofMinutes(1)); // the count falls after the answer has left
            assertEquals(0, server.requests());
        }
    }
}
