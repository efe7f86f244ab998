package dev.tenon.platform.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.auth.HostCheck;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What becomes of requests whose end point fails badly. The limit on time ends a hang.
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

    @Test
    void aRequestThatFailsIsNotCountedForEver() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Endpoint dies = exchange -> {
            throw new InternalError("a page of a mapped file is gone");
        };
        RouteTable table = new RouteTable(
                List.of(Route.of("GET", "/broken", new Broken()), Route.of("GET", "/dies", dies)), List.of());
        HttpSetup setup = new HttpSetup(
                HttpSetup.Socket.plain(address),
                new HttpSetup.Access(ApiKeys.none(), HostCheck.of(address.getAddress(), List.of()), List.of()),
                HttpLimits.defaults(),
                () -> table,
                request -> {});
        try (HttpServer server = HttpServer.start(setup);
                HttpClient client = HttpClient.newHttpClient()) {
            for (String path : List.of("/broken", "/dies")) {
                URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
                HttpResponse<String> answer =
                        client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
                assertEquals(500, answer.statusCode());
                assertTrue(!answer.body().contains("Error: "), answer::body);
            }
            while (server.requests() > 0) { // the count falls after the answer has left
                Thread.onSpinWait();
            }
        }
    }
}
