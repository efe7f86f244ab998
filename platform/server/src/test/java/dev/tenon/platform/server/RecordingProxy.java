package dev.tenon.platform.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// Stands between a client and a server, and keeps what the server says. Streams pass as they come.
final class RecordingProxy implements AutoCloseable {
    /// In the order in which they ended; safe for any thread.
    final List<Answer> answers = Collections.synchronizedList(new ArrayList<>());

    private final HttpClient client = HttpClient.newHttpClient();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer front;
    private final String target;

    /// @param request method and path
    record Answer(String request, int status, String body) {}

    /// @param target address of the server
    RecordingProxy(String target) throws IOException {
        this.target = target;
        front = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        front.setExecutor(threads);
        front.createContext("/", this::pass);
        front.start();
    }

    String address() {
        return "http://127.0.0.1:" + front.getAddress().getPort();
    }

    private void pass(HttpExchange exchange) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(target + exchange.getRequestURI()))
                .method(
                        exchange.getRequestMethod(),
                        HttpRequest.BodyPublishers.ofByteArray(
                                exchange.getRequestBody().readAllBytes()));
        for (String header : List.of("Content-Type", "Accept", "Anthropic-Version", "Anthropic-Beta")) {
            exchange.getRequestHeaders()
                    .getOrDefault(header, List.of())
                    .forEach(value -> request.header(header, value));
        }
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        int status = 0;
        try (exchange) {
            HttpResponse<InputStream> response =
                    client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            status = response.statusCode();
            exchange.getResponseHeaders()
                    .set(
                            "Content-Type",
                            response.headers().firstValue("Content-Type").orElse("text/plain"));
            exchange.sendResponseHeaders(status, exchange.getRequestMethod().equals("HEAD") ? -1 : 0);
            byte[] piece = new byte[8192];
            try (InputStream body = response.body()) {
                for (int length = body.read(piece); length >= 0; length = body.read(piece)) {
                    kept.write(piece, 0, length);
                    exchange.getResponseBody().write(piece, 0, length);
                    exchange.getResponseBody().flush();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            String line = exchange.getRequestMethod() + " " + exchange.getRequestURI();
            answers.add(new Answer(line, status, kept.toString(StandardCharsets.UTF_8)));
        }
    }

    @Override
    public void close() {
        front.stop(0);
        threads.close();
        client.close();
    }
}
